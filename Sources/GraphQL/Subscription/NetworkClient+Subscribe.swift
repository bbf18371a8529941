public import BeagleNet
import BeagleNetHTTP

extension NetworkClient {
    /// Subscribes to an operation.
    ///
    /// ```swift
    /// for try await result in try client.subscribe(to: .newPosts(in: "news")) { show(result.data) }
    /// ```
    /// Simultaneous equal operations share one subscription. The server's errors for a single result are part of that
    /// result, and are only thrown if the endpoint's policy is strict.
    ///
    /// - Parameters:
    ///   - operation: The operation, a subscription.
    ///   - endpoint: The endpoint, or `nil` for the container's `graphQLEndpoint`. It determines the transports
    ///     (`GraphQLEndpoint.subscriptions`).
    ///   - decoder: The decoder of values, or `nil` for the container's `bodyDecoder`.
    ///   - buffering: The handling of results that aren't read in time; by default, up to 4,096 results are buffered.
    ///   - configure: Configures the operation before it runs, such as its partition, deadline and context.
    /// - Returns: The results. The iterator throws `NetworkError`: of kind `.graphQL` if the server refuses the
    ///   operation, `.unsupported` if it doesn't support subscriptions, `.decoding` if a result can't be decoded, or
    ///   the reason for which the connection was lost.
    /// - Throws: `NetworkError` if the operation can't be sent.
    public func subscribe<Input: Encodable, Output: Decodable & SendableMetatype>(
        to operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil,
        decoder: (any BodyDecoder)? = nil,
        buffering: GraphQLBuffering = .failing(4096),
        _ configure: Configure = { _ in }
    ) throws(NetworkError) -> GraphQLSubscription<Output> {
        let prepared = try PreparedOperation(operation, at: endpoint, in: container)
        let (key, policy) = (prepared.rootKey, prepared.endpoint.errorPolicy)
        let decoder = decoder ?? container.bodyDecoder
        return GraphQLSubscription(
            client: self,
            operation: try subscription(prepared.request, at: prepared.endpoint, configure),
            buffering: buffering
        ) { response throws(NetworkError) in
            let parsed = try ParsedGraphQLResponse(reading: response)
            do throws(NetworkError) {
                return try parsed.decode(Output.self, at: key, policy, with: decoder)
            } catch {
                // An error in one result doesn't end the subscription.
                guard error.kind == .graphQL, policy != .strict else { throw error }
                return GraphQLResponse(
                    data: nil,
                    errors: parsed.errors,
                    extensions: parsed.extensions,
                    response: response
                )
            }
        }
    }

    /// Subscribes to a request and returns the results as JSON, for code that parses them itself.
    ///
    /// - Parameters:
    ///   - request: The operation, a subscription.
    ///   - endpoint: The endpoint, or `nil` for the container's `graphQLEndpoint`.
    ///   - buffering: The handling of results that aren't read in time; by default, up to 4,096 results are buffered.
    ///   - configure: Configures the operation before it runs.
    /// - Throws: `NetworkError` if the operation can't be sent.
    public func subscribe(
        to request: GraphQLRequest,
        at endpoint: GraphQLEndpoint? = nil,
        buffering: GraphQLBuffering = .failing(4096),
        _ configure: Configure = { _ in }
    ) throws(NetworkError) -> GraphQLSubscription<JSONValue> {
        try request.checkVariables()
        return GraphQLSubscription(
            client: self,
            operation: try subscription(request, at: try container.endpoint(endpoint), configure),
            buffering: buffering
        ) { response throws(NetworkError) in
            let parsed = try ParsedGraphQLResponse(reading: response)
            return GraphQLResponse(
                data: try parsed.data.map { range throws(NetworkError) in try JSONValue(parsing: parsed[range]) },
                errors: parsed.errors,
                extensions: parsed.extensions,
                response: response
            )
        }
    }

    private func subscription(
        _ request: GraphQLRequest,
        at endpoint: GraphQLEndpoint,
        _ configure: Configure
    ) throws(NetworkError) -> NetworkOperation {
        guard request.kind == .subscription else {
            throw NetworkError(
                .badRequest,
                during: .build,
                "the operation is a \(request.kind), not a subscription",
                advice: "use execute(_:)"
            )
        }
        var operation = try operationOverSubscriptionTransport(request, at: endpoint)
        configure(&operation)
        return operation
    }

    /// Creates the network operation of a request that uses the transports of subscriptions.
    ///
    /// - Throws: `NetworkError` if the operation can't be sent.
    package func operationOverSubscriptionTransport(
        _ request: GraphQLRequest,
        at endpoint: GraphQLEndpoint
    ) throws(NetworkError) -> NetworkOperation {
        let message = DocumentMessage(
            request,
            endpoint.subscriptionTransportDocuments,
            method: try endpoint.subscriptionTransportMethod
        )
        let url = try endpoint.target.url(in: container)
        let revision = try DocumentRevision(message, at: endpoint, to: url)
        var operation = NetworkOperation(revision.request, kind: NetworkOperation.Kind(request.kind))
        operation.operationName = request.operationName
        operation.performer = try SubscriptionPerformer(request, at: endpoint)
        // A subscription isn't revised, because results that were already delivered would be delivered again.
        if request.kind != .subscription, revision.request.isGet { operation.revision = revision }
        return operation
    }
}

extension GraphQLEndpoint {
    private var hasWebSocket: Bool { subscriptions.contains(where: \.isWebSocket) }

    /// The HTTP method of operations with several results.
    fileprivate var subscriptionTransportMethod: QueryMethod {
        get throws(NetworkError) {
            guard subscriptionMethod == .get else { return .post }
            let hasOther = subscriptions.contains { transport in
                if case .events(.distinct) = transport { return false }
                return true
            }
            if hasOther { throw .getBesideOthers }
            return .get
        }
    }

    /// The form in which documents with several results are sent.
    fileprivate var subscriptionTransportDocuments: DocumentStyle {
        switch documentStyle {
        // A server that doesn't know a hash would need a second request.
        case .automatic: .text
        // The WebSocket would have the same path, although it is used for all documents.
        case .path where hasWebSocket: .text
        default: documentStyle
        }
    }
}

extension NetworkError {
    fileprivate static let getBesideOthers = NetworkError(
        .badConfiguration,
        during: .build,
        "GraphQLEndpoint.subscriptionMethod is .get, but subscriptions contains more than event streams",
        advice: "set subscriptions to [.events()], or subscriptionMethod to .post"
    )
}
