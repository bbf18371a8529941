/// A URL or a relative reference, split into its components without changing them (RFC 3986, appendix B).
///
/// Use it instead of `URL(string:)` for text from a server, an archive, the environment or a user. If `URL(string:)`
/// has to encode one character of a component, it encodes all its existing escapes again. Its result also depends on
/// whether the process links Foundation.
package struct URLReference {
    package let scheme: Substring?
    /// The user, host and port.
    package let authority: Substring?
    let path: Substring
    let query: Substring?
    let fragment: Substring?

    /// Splits text into components. Any text can be split.
    package init(_ text: String) {
        // Compare bytes, because a delimiter and a combining mark after it would be one `Character`.
        var rest = text[...]
        fragment = Self.cutEnd(of: &rest, at: UInt8(ascii: "#"))
        query = Self.cutEnd(of: &rest, at: UInt8(ascii: "?"))
        let end = rest.utf8.firstIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") } ?? rest.endIndex
        if end < rest.endIndex, rest.utf8[end] == UInt8(ascii: ":"), Self.isScheme(rest[..<end].utf8) {
            scheme = rest[..<end]
            rest = rest[rest.utf8.index(after: end)...]
        } else {
            scheme = nil
        }
        if rest.utf8.starts(with: "//".utf8) {
            rest = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[..<end]
            path = rest[end...]
        } else {
            authority = nil
            path = rest
        }
    }

    private static func cutEnd(of text: inout Substring, at mark: UInt8) -> Substring? {
        guard let place = text.utf8.firstIndex(of: mark) else { return nil }
        defer { text = text[..<place] }
        return text[text.utf8.index(after: place)...]
    }

    private static func isScheme(_ name: Substring.UTF8View) -> Bool {
        guard let first = name.first, first.isASCIILetter else { return false }
        return name.allSatisfy { $0.isASCIILetter || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
    }

    /// Whether there is only a scheme and authority, optionally followed by a slash.
    var hasOnlyAuthority: Bool { (path.isEmpty || path == "/") && query == nil && fragment == nil }

    private var encodedPath: String { PercentEncoding.path.encode(path) }
    private var encodedQuery: String { query.map { "?" + PercentEncoding.query.encode($0) } ?? "" }
}

extension URLReference {
    /// Returns the text with the host in ASCII form and all characters encoded that aren't allowed in a URL.
    ///
    /// Existing escapes are kept. A `%` that doesn't begin an escape is encoded.
    ///
    /// - Throws: `NetworkError` of kind `.badURL` if the authority is invalid.
    package func encoded() throws(NetworkError) -> String {
        var text = scheme.map { "\($0):" } ?? ""
        if let authority { text += "//" + (try Self.encoded(authority)) }
        text += encodedPath + encodedQuery
        if let fragment { text += "#" + PercentEncoding.query.encode(fragment) }
        return text
    }

    /// Returns the text as a URL. The result is the same in every process.
    ///
    /// - Throws: `NetworkError` of kind `.badURL` if the text isn't a valid URL.
    package func url() throws(NetworkError) -> URL {
        guard let url = URL(string: try encoded()) else {
            throw NetworkError(.badURL, during: .build, "the text is not a URL", advice: "check its spelling")
        }
        return url
    }

    private static func encoded(_ authority: Substring) throws(NetworkError) -> String {
        let (user, rest) = splitUser(from: authority)
        let host = rest.isEmpty ? "" : try WireURL("http://\(rest)").authority
        return user.map { PercentEncoding.path.encode($0) + "@" + host } ?? host
    }

    /// Splits an authority into the user, if there is one, and the host with port.
    package static func splitUser(from authority: Substring) -> (user: Substring?, host: Substring) {
        guard let mark = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else { return (nil, authority) }
        return (authority[..<mark], authority[authority.utf8.index(after: mark)...])
    }
}

extension URLReference {
    /// Resolves this reference against the URL of a request (RFC 3986, 5.2.2). The fragment is dropped.
    package func resolved(against base: HTTPRequest) -> String {
        let scheme = scheme.map(String.init) ?? base.scheme ?? ""
        if self.scheme != nil || authority != nil {
            // Without an authority, it isn't an HTTP URL. The caller's parser rejects it.
            guard let authority else { return "\(scheme):\(encodedPath)\(encodedQuery)" }
            return "\(scheme)://\(authority)\(Self.withoutDotSegments(encodedPath))\(encodedQuery)"
        }
        let (path, query) = base.pathAndQuery
        let site = "\(scheme)://\(base.authority ?? "")"
        if self.path.isEmpty { return site + path + (self.query == nil ? query : encodedQuery) }
        let isWhole = self.path.utf8.first == UInt8(ascii: "/")
        let folder = isWhole ? "" : path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        return site + Self.withoutDotSegments("\(folder)\(encodedPath)") + encodedQuery
    }

    /// Returns an encoded path without `.` and `..` segments (RFC 3986, 5.2.4).
    private static func withoutDotSegments(_ path: String) -> String {
        guard path.utf8.first == UInt8(ascii: "/") else { return path }
        var segments: [Substring] = []
        let all = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for segment in all {
            switch segment {
            case ".": break
            case "..": _ = segments.popLast()
            default: segments.append(segment)
            }
        }
        if let last = all.last, last == "." || last == ".." { segments.append("") }
        return "/" + segments.joined(separator: "/")
    }
}

extension HTTPRequest {
    /// The path, which always begins with a slash, and the query with its question mark, if there is one.
    fileprivate var pathAndQuery: (path: String, query: String) {
        let whole = path ?? "/"
        let mark = whole.utf8.firstIndex(of: UInt8(ascii: "?")) ?? whole.endIndex
        let path = String(whole[..<mark])
        return (path.utf8.first == UInt8(ascii: "/") ? path : "/", String(whole[mark...]))
    }
}

extension UInt8 {
    fileprivate var isASCIILetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
}
