import BeagleNetHTTP

/// The parts of a URL that go over the wire.
struct WireURL {
    let scheme: String
    let host: String
    let port: Int?
    private(set) var path: String
    private(set) var query: String?

    /// Takes a URL apart; one that begins with `/` is put onto `base`. The fragment is left behind (RFC 9110, 7.1).
    ///
    /// - Throws: `NetworkError` of kind `.badURL` or `.unsupportedScheme`. It quotes nothing that may be a secret.
    init(_ url: URL, base: URL?) throws(NetworkError) {
        let text = try Self.absolute(url, base)
        guard !Expression.occurs(in: text) else { throw .unevaluated }
        let scheme = Self.scheme(of: text).lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw .build(.unsupportedScheme, "the scheme \(scheme) is not supported", "use http or https")
        }
        var rest = text.dropFirst(scheme.count + 1)
        guard rest.hasPrefix("//") else { throw .noHost }
        rest = rest.dropFirst(2).prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let target = rest[authority.endIndex...]
        let path = target.prefix { $0 != "?" }
        guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .badURL("path or query hold a character that is not percent-encoded", "build the URL with UrlBuilder")
        }
        self.scheme = scheme
        (host, port) = try Self.hostAndPort(authority)
        self.path = path.isEmpty ? "/" : String(path)
        query = path.endIndex < target.endIndex ? String(target[path.endIndex...].dropFirst()) : nil
    }

    /// Host and port as the message's `Host` has them.
    var authority: String { port.map { "\(host):\($0)" } ?? host }

    /// What the message asks the host for.
    var target: String { query.map { "\(path)?\($0)" } ?? path }

    /// Whom the URL asks.
    var origin: Origin { Origin(scheme: scheme, host: host, port: port) }

    /// Puts items after those that the query has.
    mutating func append(_ items: some Sequence<URLQueryItem>) {
        for item in items {
            var pair = PercentEncoding.item.encode(item.name)
            if let value = item.value { pair += "=" + PercentEncoding.item.encode(value) }
            let query = query ?? ""
            self.query = query.isEmpty || query.hasSuffix("&") ? query + pair : "\(query)&\(pair)"
        }
    }

    /// Puts items in place of the query, encoded as `URLComponents` does: with `+` as it is, and a bare `?` for none.
    mutating func replaceQuery(_ items: [URLQueryItem]) {
        var components = URLComponents()
        components.queryItems = items
        query = components.percentEncodedQuery ?? ""
    }

    private static func absolute(_ url: URL, _ base: URL?) throws(NetworkError) -> String {
        let text = url.absoluteString
        guard scheme(of: text).isEmpty else { return text }
        guard !Expression.occurs(in: text) else { throw .unevaluated }
        guard text.hasPrefix("/"), let base else {
            throw .noScheme
        }
        let joined = try UrlBuilder(baseUrl: base).url(for: text).absoluteString
        guard !scheme(of: joined).isEmpty else { throw .noScheme }
        return joined
    }

    /// What stands before the first colon, unless a path, query or fragment begins earlier.
    private static func scheme(of text: String) -> Substring {
        guard let end = text.firstIndex(where: { ":/?#".contains($0) }), text[end] == ":" else { return "" }
        return text[..<end]
    }

    private static func hostAndPort(_ authority: Substring) throws(NetworkError) -> (String, Int?) {
        guard !authority.contains("@") else {
            throw .badURL(
                "the URL holds a user name or password",
                "send them in an Authorization header; URLs are logged and kept"
            )
        }
        let afterLiteral = authority.first == "[" ? authority.firstIndex(of: "]") : nil
        let colon = authority[(afterLiteral ?? authority.startIndex)...].firstIndex(of: ":")
        let host = try host(authority[..<(colon ?? authority.endIndex)])
        guard let colon else { return (host, nil) }
        return (host, try port(authority[colon...].dropFirst()))
    }

    private static func host(_ text: Substring) throws(NetworkError) -> String {
        guard !text.isEmpty else { throw .noHost }
        if text.first == "[" {
            guard text.last == "]", text.count > 2 else { throw .badURL("the IPv6 address lacks a bracket") }
            return String(text)
        }
        // A name beyond ASCII comes percent-encoded; the transport asks for it by its IDNA form (RFC 5891).
        guard let host = PercentEncoding.decode(text),
            host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !#"/?#@:[]\<>"^`{|}%"#.utf8.contains($0) })
        else { throw .badURL("the host holds a character that no host may hold", "check the URL's spelling") }
        return host
    }

    /// An empty port is the scheme's own (RFC 3986, 3.2.3).
    private static func port(_ digits: Substring) throws(NetworkError) -> Int? {
        if digits.isEmpty { return nil }
        guard let port = Int(digits), (1...65_535).contains(port), digits.first != "+" else {
            throw .badURL("the port \(digits) is not a number from 1 to 65535")
        }
        return port
    }
}

extension NetworkError {
    fileprivate static var noScheme: NetworkError {
        .badURL("the URL has no scheme", "write http:// or https:// in front, or begin with / and set a base URL")
    }

    fileprivate static var noHost: NetworkError {
        .badURL("the URL names no host", "write it after the scheme, as in https://example.com/")
    }

    /// An error of a URL in which an expression stands.
    static var unevaluated: NetworkError {
        .badURL(
            "the URL holds an expression @{…} that was not evaluated",
            "evaluate it before the request, or write %40 for an @ that means itself"
        )
    }
}
