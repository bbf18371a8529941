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
        if let url = dependencies.urlBuilder.build(path: self) { return url }
        let redacted = Redactor().redact(url: self)
        dependencies.logger.log(Log.network(.couldNotBuildUrl(url: redacted)))
        throw NetworkError(
            .badURL,
            during: .build,
            "\(redacted) names no URL",
            advice: "give a whole URL, or a path that begins with / beside `dependencies.environment.baseURL`"
        )
    }
}
