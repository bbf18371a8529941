public import BeagleNetDependencies

/// A container that has a network client, such as `BeagleDependencies`.
@preconcurrency
public protocol DependencyNetworkClient: Sendable {
    /// The current client.
    var networkClient: any NetworkClient { get }
}

extension BeagleDependencies: DependencyNetworkClient {
    /// The client for all requests.
    ///
    /// In an app, the default is a `NetworkClientDefault` that follows this container. In tests and previews, it is a
    /// client that fails each request with `.notConfigured`, so that they can't reach the network by accident. Their
    /// scopes don't inherit the client of a live container.
    ///
    /// A client that you set also serves the inner scopes, with the settings of its own container. To have one client
    /// for each scope, `register` a factory.
    public var networkClient: any NetworkClient {
        get { self[NetworkClientKey.self] }
        set { self[NetworkClientKey.self] = newValue }
    }
}

extension Injected where Value == any NetworkClient {
    /// Injects the client: `@Injected() var client: any NetworkClient`.
    public init() {
        self.init(\.networkClient)
    }
}

private enum NetworkClientKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> any NetworkClient {
        NetworkClientDefault(dependencies: dependencies)
    }

    static func test(_ dependencies: BeagleDependencies) -> any NetworkClient {
        NotConfiguredClient(dependencies)
    }

    static var isLiveOnly: Bool { true }
}
