public import BeagleNetDependencies

/// Something that has a network client. `BeagleDependencies` is one.
@preconcurrency
public protocol DependencyNetworkClient: Sendable {
    /// The client as it is now.
    var networkClient: any NetworkClient { get }
}

extension BeagleDependencies: DependencyNetworkClient {
    /// Answers all requests. In an app a `NetworkClientDefault` that follows this container; in tests and previews one
    /// that fails each request with `.notConfigured`, so that none reaches the network unasked. Their scopes don't inherit
    /// the client of a live container.
    ///
    /// A client that is set serves the scopes inside as well, by the settings of its own container. To have one for each
    /// scope, `register` what makes it.
    public var networkClient: any NetworkClient {
        get { self[NetworkClientKey.self] }
        set { self[NetworkClientKey.self] = newValue }
    }
}

extension Injected where Value == any NetworkClient {
    /// Reads the client: `@Injected() var client: any NetworkClient`.
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
