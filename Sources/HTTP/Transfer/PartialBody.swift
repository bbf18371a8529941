/// The body of a partial response (206), checked to have exactly the length that its `Content-Range` declares.
package struct PartialBody: Sendable {
    /// The offset of the part's first byte in the whole representation.
    package let start: Int64
    /// The offset after the part's last byte.
    package let end: Int64
    /// The size of the whole representation in bytes, if the server declares it.
    package let total: Int64?
    /// The offset of the next byte.
    package private(set) var position: Int64

    /// Reads the head of a partial response.
    ///
    /// Returns `nil` if it isn't a partial response with a single range of bytes, or if its body is encoded.
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

    /// Counts received bytes.
    ///
    /// - Throws: `NetworkError` of kind `.protocol` if the part is longer than declared.
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

    /// Checks that the part is complete.
    ///
    /// - Throws: `NetworkError` of kind `.truncated` if it isn't.
    package func finish() throws(NetworkError) {
        guard position < end else { return }
        throw NetworkError(
            .truncated,
            during: .body,
            "the server sent only \(position - start) of the \(end - start) bytes declared in Content-Range",
            advice: "resume the download"
        )
    }

    /// Checks that the part is complete and extends to the end of the whole representation.
    ///
    /// - Throws: `NetworkError` of kind `.truncated` if it doesn't, or if the server doesn't declare the total size.
    package func finishRepresentation() throws(NetworkError) {
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
    /// The error for a 206 response to a request without `Range`.
    package static let unexpectedPartialResponse = NetworkError(
        .protocol,
        during: .body,
        "the server sent a partial response to a request without a range"
    )
}
