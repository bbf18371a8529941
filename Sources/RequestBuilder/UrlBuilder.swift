public import BeagleNetHTTP

/// A builder of URLs from the paths in screens.
public protocol UrlBuilderProtocol: Sendable {
    /// The base URL of paths that begin with `/`.
    var baseUrl: URL? { get set }

    /// Returns the URL of a path, or `nil` if the path doesn't form a URL.
    func build(path: String) -> URL?
}

/// A builder that resolves paths against a base URL and encodes characters that a URL can't contain, component by
/// component.
///
/// - A path that begins with `/`, including `//x`, is appended to the base's path without its last `/`. Its query is
///   appended to the base's query. The fragment is that of the path, and the host is always that of the base.
/// - Without a base URL, such a path is used alone. `//x` is rejected, because it would name a host.
/// - Anything else is unchanged, so that `www.x` stays a relative URL, which a request rejects.
///
/// Existing escapes stay unchanged; any other `%` is encoded. A host with non-ASCII letters is written in its ASCII
/// form (`xn--…`). The result is the same in every process, with or without Foundation.
public struct UrlBuilder: UrlBuilderProtocol {
    /// The base URL of paths that begin with `/`.
    public var baseUrl: URL?

    /// Creates a builder of URLs.
    public init(baseUrl: URL? = nil) {
        self.baseUrl = baseUrl
    }

    /// Returns the URL of a path, or `nil` if `url(for:)` throws.
    public func build(path: String) -> URL? {
        do {
            return try url(for: path)
        } catch {
            return nil
        }
    }

    /// Returns the URL of a path.
    ///
    /// - Throws: `NetworkError` of kind `.badURL` if the path is empty, contains a control character or an unevaluated
    ///   expression, or doesn't form a URL.
    public func url(for path: String) throws(NetworkError) -> URL {
        guard !path.isEmpty else { throw .badURL("the path is empty") }
        guard path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .badURL("the path contains a line break or another control character")
        }
        guard !Expression.occurs(inURL: path) else { throw .unevaluated }
        let components = Components(path)
        let text = path.unicodeScalars.first == "/" ? try resolved(components) : components.encoded
        let encoded = try URLReference(text).encoded()
        guard let url = URL(string: encoded) else { throw .noScheme(path) }
        return url
    }

    private func resolved(_ components: Components) throws(NetworkError) -> String {
        guard let baseUrl else {
            guard !components.path.unicodeScalars.starts(with: "//".unicodeScalars) else {
                throw .badURL("a path that begins with // would be read as a host", "set a base URL, or add the scheme")
            }
            return components.encoded
        }
        var whole = Components(baseUrl.absoluteString)
        if whole.path.hasSuffix("/") { whole.path = whole.path.dropLast() }
        whole.path += components.path
        whole.query = [whole.query, components.query].compactMap { $0 }.reduce(nil) { before, query in
            before.map { $0.isEmpty ? query : "\($0)&\(query)" } ?? query
        }
        whole.fragment = components.fragment
        return whole.encoded
    }
}

extension UrlBuilder {
    /// The components of a URL or path, split at its first `#` and, before that, its first `?`.
    ///
    /// It is split between Unicode scalars, because a combining character after a delimiter would be part of the same
    /// `Character`.
    private struct Components {
        /// The scheme and host as written.
        var schemeAndHost: Substring = ""
        var path: Substring
        var query: Substring?
        var fragment: Substring?

        init(_ text: String) {
            path = text[...]
            fragment = Self.cut(&path, at: "#")
            query = Self.cut(&path, at: "?")
            let scalars = path.unicodeScalars
            guard let colon = scalars.firstIndex(where: { $0 == ":" || $0 == "/" }),
                scalars[colon...].starts(with: "://".unicodeScalars)
            else { return }
            let host = scalars[colon...].dropFirst(3)
            let end = host.firstIndex(of: "/") ?? host.endIndex
            schemeAndHost = path[..<end]
            path = path[end...]
        }

        var encoded: String {
            var text = schemeAndHost + PercentEncoding.path.encode(path)
            if let query { text += "?" + PercentEncoding.query.encode(query) }
            if let fragment { text += "#" + PercentEncoding.query.encode(fragment) }
            return String(text)
        }

        private static func cut(_ text: inout Substring, at mark: Unicode.Scalar) -> Substring? {
            guard let place = text.unicodeScalars.firstIndex(of: mark) else { return nil }
            defer { text = text[..<place] }
            return text[text.unicodeScalars.index(after: place)...]
        }
    }
}
