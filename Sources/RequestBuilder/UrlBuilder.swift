public import BeagleNetHTTP

/// Makes URLs of the paths that screens name.
public protocol UrlBuilderProtocol: Sendable {
    /// What paths that begin with `/` are put onto.
    var baseUrl: URL? { get set }

    /// The URL that `path` names, or nil where it names none.
    func build(path: String) -> URL?
}

/// Puts paths onto a base and encodes what a URL cannot hold, component by component.
///
/// | path | URL |
/// |---|---|
/// | begins with `/`, `//x` too | the base's path without its last `/`, then this one; the base's query, then this one; the fragment of the path. Never another host |
/// | begins with `/`, no base | the path alone; `//x` is refused, since it would name a host |
/// | anything else | itself, so that `www.x` stays a relative URL, which a request refuses |
///
/// Escapes that are there stay; a `%` that begins none is encoded. A host of other letters is written in its ASCII form
/// (`xn--…`). The result is the same in every process, whether it links Foundation or not.
public struct UrlBuilder: UrlBuilderProtocol {
    /// What paths that begin with `/` are put onto.
    public var baseUrl: URL?

    /// A builder of URLs.
    public init(baseUrl: URL? = nil) {
        self.baseUrl = baseUrl
    }

    /// The URL that `path` names, or nil where `url(for:)` throws.
    public func build(path: String) -> URL? {
        do {
            return try url(for: path)
        } catch {
            return nil
        }
    }

    /// The URL that `path` names.
    ///
    /// - Throws: `NetworkError` of kind `.badURL`: the path is empty, holds a control character or an expression that
    ///   was not evaluated, or gives no URL.
    public func url(for path: String) throws(NetworkError) -> URL {
        guard !path.isEmpty else { throw .badURL("the path is empty") }
        guard path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .badURL("the path contains a line break or another control character")
        }
        guard !Expression.occurs(inURL: path) else { throw .unevaluated }
        let components = Components(path)
        let text = path.unicodeScalars.first == "/" ? try onBase(components) : components.encoded
        let encoded = try URLReference(text).encoded()
        guard let url = URL(string: encoded) else { throw .noScheme(path) }
        return url
    }

    private func onBase(_ components: Components) throws(NetworkError) -> String {
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

/// A URL or path cut at its first `#` and, before that, its first `?`. Cut between scalars: a combining character after
/// a mark makes one `Character` of the two.
private struct Components {
    /// Scheme and host, as they were written.
    var front: Substring = ""
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
        front = path[..<end]
        path = path[end...]
    }

    var encoded: String {
        var text = front + PercentEncoding.path.encode(path)
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
