public import BeagleNetDependencies
public import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Names what to ask: a path, text of a URL, or a URL.
public protocol RequestTarget: Sendable {
    /// The URL that is meant.
    ///
    /// - Parameter dependencies: whose `urlBuilder` makes URLs of paths.
    /// - Throws: `NetworkError` of kind `.badURL` where it names none.
    func url(in dependencies: BeagleDependencies) throws(NetworkError) -> URL
}

extension URL: RequestTarget {
    /// This URL.
    public func url(in dependencies: BeagleDependencies) throws(NetworkError) -> URL { self }
}

extension String: RequestTarget {
    /// What the `urlBuilder` makes of this path or URL.
    public func url(in dependencies: BeagleDependencies) throws(NetworkError) -> URL {
        do {
            return try dependencies.urlBuilder.url(for: self)
        } catch {
            let redacted = dependencies.redactor.redact(url: self)
            dependencies.logger.log(Log.network(.couldNotBuildUrl(url: redacted)))
            throw error
        }
    }
}

extension UrlBuilderProtocol {
    /// The URL that `path` names, or why there is none, as far as the builder tells.
    fileprivate func url(for path: String) throws(NetworkError) -> URL {
        if let builder = self as? UrlBuilder { return try builder.url(for: path) }
        guard let url = build(path: path) else {
            throw NetworkError(
                .badURL,
                during: .build,
                "the app's URL builder returned no URL for the path",
                advice: "check the path and the URL builder"
            )
        }
        return url
    }
}
