#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension HTTPResponse {
    /// The delay that the server asks for (`Retry-After`: seconds, or a date, RFC 9110, 10.2.3), or `nil` if there is
    /// no valid value.
    ///
    /// If there are several values, the longest is used. A date is relative to the server's own `Date`, because clocks
    /// differ.
    package var retryAfter: Duration? {
        headerFields[values: .retryAfter].compactMap(duration).max()
    }

    private func duration(_ text: String) -> Duration? {
        if let seconds = Int(digits: text) { return .seconds(min(Int64(seconds), 1 << 40)) }
        let now = headerFields[single: .date].flatMap { HTTPDate($0) }?.seconds ?? Int64(Date().timeIntervalSince1970)
        return HTTPDate(text, now: now).map { .seconds(max(0, $0.seconds - now)) }
    }

    /// The validator for `If-Range` (RFC 9110, 13.1.5): a strong `ETag`, or else a `Last-Modified` date at least a
    /// minute before `Date`.
    ///
    /// With such a date, the file can't have changed twice within the same second (8.8.2.2).
    package var strongValidator: String? {
        if headerFields.contains(.eTag) {
            // Tags that differ from each other are useless.
            guard let tag = headerFields.single(.eTag)?.opaqueValue else { return nil }
            return tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count > 2 ? tag : nil
        }
        guard let text = headerFields[single: .lastModified], let modified = HTTPDate(text),
            let date = headerFields[single: .date].flatMap({ HTTPDate($0) }), date.seconds >= modified.seconds + 60
        else { return nil }
        return text
    }
}
