public import BeagleNetDependencies
public import BeagleNetRequestBuilder

/// Something that has a builder of URLs. `BeagleDependencies` is one.
@preconcurrency
public protocol DependencyUrlBuilder: Sendable {
    /// The builder as it is now.
    var urlBuilder: any UrlBuilderProtocol { get }
}

extension BeagleDependencies: DependencyUrlBuilder {
    /// Makes URLs of paths: the one set, else one that puts them onto `environment.baseURL`.
    public var urlBuilder: any UrlBuilderProtocol {
        get { self[UrlBuilderKey.self] ?? UrlBuilder(baseUrl: environment.baseURL) }
        set { self[UrlBuilderKey.self] = newValue }
    }
}

/// nil where none is set, so that the default follows the environment.
enum UrlBuilderKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> (any UrlBuilderProtocol)? { nil }
}
