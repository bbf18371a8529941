public import BeagleNetHTTP

/// Makes URLs of the paths that screens name.
public protocol UrlBuilderProtocol: Sendable {
    /// What paths that begin with `/` are put onto.
    var baseUrl: URL? { get set }

    /// The URL that `path` names, or nil where it names none.
    func build(path: String) -> URL?
}

/// Puts paths onto a base and encodes what a URL cannot hold, component by component.
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
    /// - Throws: `NetworkError` of kind `.badURL` that says why there is none.
    public func url(for path: String) throws(NetworkError) -> URL {
        throw NetworkError(.badURL, during: .build, "not built")
    }
}
