extension HTTPResponse {
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
