public import BeagleNetDependencies
public import BeagleNetRequestBuilder

/// A container that has a builder of URLs, such as `BeagleDependencies`.
@preconcurrency
public protocol DependencyUrlBuilder: Sendable {
    /// The current builder.
    var urlBuilder: any UrlBuilderProtocol { get }
}

extension BeagleDependencies: DependencyUrlBuilder {
    /// The builder that turns paths into URLs, which by default resolves them against `environment.baseURL`.
    public var urlBuilder: any UrlBuilderProtocol {
        get { self[UrlBuilderKey.self] ?? UrlBuilder(baseUrl: environment.baseURL) }
        set { self[UrlBuilderKey.self] = newValue }
    }
}

/// The key of the URL builder, which is `nil` until one is set, so that the default follows the environment.
enum UrlBuilderKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> (any UrlBuilderProtocol)? { nil }
}
