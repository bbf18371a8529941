package import BeagleNetHTTP

extension WireURL {
    /// Parses a URL without its fragment; a path that begins with `/` is resolved against `base`.
    ///
    /// - Throws: `NetworkError` of kind `.badURL` or `.unsupportedScheme`, with secrets redacted.
    package init(_ url: URL, base: URL?) throws(NetworkError) {
        var text = url.absoluteString
        guard !Expression.occurs(inURL: text) else { throw .unevaluated }
        if let parsed = try Self(parsing: &text) {
            self = parsed
            return
        }
        text = try Self.absolute(text, base)
        guard let parsed = try Self(parsing: &text) else {
            throw .badURL("the base URL \(Redactor().redact(url: text)) has no scheme", "write it as https://HOST")
        }
        self = parsed
    }

    /// Returns the absolute form of a URL without a scheme.
    private static func absolute(_ text: String, _ base: URL?) throws(NetworkError) -> String {
        guard text.utf8.first == UInt8(ascii: "/"), let base else { throw .noScheme(text) }
        let joined = try UrlBuilder(baseUrl: base).url(for: text).absoluteString
        guard !Expression.occurs(inURL: joined) else { throw .unevaluated }
        return joined
    }
}

extension NetworkError {
    /// Creates an error for a URL without a scheme or base URL.
    static func noScheme(_ text: String) -> NetworkError {
        let isPath = text.utf8.first == UInt8(ascii: "/") && !text.utf8.starts(with: "//".utf8)
        if isPath {
            let path = Redactor().redact(url: text)
            return .badURL(
                "no base URL is set for the path \(path)",
                "set one, as in BeagleEnvironment(name:baseURL:), or write the whole URL: https://HOST\(path)"
            )
        }
        let isMarked = text.utf8.starts(with: "//".utf8)
        let place = String(Redactor().redact(url: isMarked ? text : "//\(text)").dropFirst(2))
        return .badURL(
            "the URL \(place) has no scheme",
            "write https://\(place), or begin with / and set a base URL"
        )
    }

    /// An error for a URL that contains an expression.
    static var unevaluated: NetworkError {
        .badURL(
            "the URL contains an expression @{…} that was not evaluated",
            "evaluate it before sending the request, or write %40 for a literal @"
        )
    }
}
