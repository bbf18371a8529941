/// The body of a part (206), held to what its `Content-Range` says: neither more bytes nor fewer.
package struct PartialBody: Sendable {
    /// The first byte of the part in the whole.
    package let start: Int64
    /// The byte behind the part's last one.
    package let end: Int64
    /// Bytes of the whole, if the server tells.
    package let total: Int64?
    /// The byte that comes next.
    package private(set) var position: Int64

    /// Reads the head of a part.
    ///
    /// - Returns: `nil` if it isn't that of a part, or names no single range of bytes as they are: of several parts, or of a
    ///   coded body.
    package init?(_ response: HTTPResponse) {
        guard response.status == .partialContent,
            let range = response.headerFields[single: .contentRange].flatMap({ ContentRange($0) }),
            let bytes = range.bytes,
            response.headerFields[.contentEncoding].map({ $0.lowercased() == "identity" }) ?? true
        else { return nil }
        let (end, isTooLarge) = bytes.upperBound.addingReportingOverflow(1)
        guard !isTooLarge else { return nil }
        (start, self.end, total, position) = (bytes.lowerBound, end, range.total, bytes.lowerBound)
    }

    /// Counts bytes that came.
    ///
    /// - Throws: `NetworkError` of kind `.protocol` if they are more than the part has.
    package mutating func take(_ count: Int) throws(NetworkError) {
        guard Int64(count) <= end - position else {
            throw NetworkError(
                .protocol,
                during: .body,
                "the server sent more than the \(end - start) bytes declared in Content-Range"
            )
        }
        position += Int64(count)
    }

    /// Checks that all of the part came.
    ///
    /// - Throws: `NetworkError` of kind `.truncated` if not.
    package func finish() throws(NetworkError) {
        guard position < end else { return }
        throw NetworkError(
            .truncated,
            during: .body,
            "the server sent only \(position - start) of the \(end - start) bytes declared in Content-Range",
            advice: "resume the download"
        )
    }

    /// Checks that all of the part came, and that nothing of the whole is behind it.
    ///
    /// - Throws: `NetworkError` of kind `.truncated` if not, or if the server doesn't tell how long the whole is.
    package func finishRest() throws(NetworkError) {
        try finish()
        guard end != total else { return }
        throw NetworkError(
            .truncated,
            during: .body,
            "the response is incomplete: it ends at byte \(end) of \(total.map { "\($0)" } ?? "an unknown number")",
            advice: "resume the download"
        )
    }
}

extension NetworkError {
    /// The error of a 206 to a request without `Range`.
    package static let unaskedPart = NetworkError(
        .protocol,
        during: .body,
        "the server sent a partial response to a request without a range"
    )
}
