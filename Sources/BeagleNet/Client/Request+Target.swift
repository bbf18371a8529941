public import BeagleNetDependencies
public import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Request {
    /// The target of a request: a path, the text of a URL, or a URL.
    public protocol Target: Sendable {
        /// Returns the URL of the target.
        ///
        /// - Parameter dependencies: The container whose `urlBuilder` turns paths into URLs.
        /// - Throws: `NetworkError` of kind `.badURL` if the target isn't a valid path or URL.
        func url(in dependencies: BeagleDependencies) throws(NetworkError) -> URL
    }
}

extension URL: Request.Target {
    /// Returns this URL.
    public func url(in dependencies: BeagleDependencies) throws(NetworkError) -> URL { self }
}

extension String: Request.Target {
    /// Returns the URL that the `urlBuilder` makes from this path or URL.
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
    /// Returns the URL of `path`, or throws the builder's reason if it reports one.
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
