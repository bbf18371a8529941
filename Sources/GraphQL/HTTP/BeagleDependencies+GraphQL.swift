public import BeagleNet
import BeagleNetHTTP

extension BeagleDependencies {
    /// The endpoint of GraphQL operations that specify none.
    ///
    /// The default is `nil`.
    public var graphQLEndpoint: GraphQLEndpoint? {
        get { self[GraphQLEndpointKey.self] }
        set { self[GraphQLEndpointKey.self] = newValue }
    }

    /// The encoder of variables, for apps with custom scalars.
    ///
    /// The default is `nil`, which writes JSON with sorted keys.
    ///
    /// If an encoder doesn't sort keys, equal operations may differ in their bytes; they then share neither a request
    /// nor a stored response.
    public var graphQLEncoder: (any BodyEncoder)? {
        get { self[GraphQLEncoderKey.self] }
        set { self[GraphQLEncoderKey.self] = newValue }
    }

    /// Returns the given endpoint, or else the container's.
    ///
    /// - Throws: `NetworkError` of kind `.notConfigured` if there is neither.
    package func endpoint(_ endpoint: GraphQLEndpoint?) throws(NetworkError) -> GraphQLEndpoint {
        if let endpoint = endpoint ?? graphQLEndpoint { return endpoint }
        throw NetworkError(
            .notConfigured,
            during: .build,
            "no GraphQL endpoint is set",
            advice: "set dependencies.graphQLEndpoint, or pass an endpoint to the call"
        )
    }
}

enum GraphQLEndpointKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> GraphQLEndpoint? { nil }
}

enum GraphQLEncoderKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> (any BodyEncoder)? { nil }
}
