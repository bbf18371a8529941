public import BeagleNetDependencies
public import BeagleNetRequestBuilder

extension BeagleDependencies {
    /// The request builder of each `NetworkClientDefault` that has no builder of its own.
    public var httpRequestBuilder: HttpRequestBuilder {
        get { self[HttpRequestBuilderKey.self] }
        set { self[HttpRequestBuilderKey.self] = newValue }
    }
}

enum HttpRequestBuilderKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> HttpRequestBuilder { HttpRequestBuilder() }
}
