public import BeagleNet
import BeagleNetHTTP

extension NetworkClient {
    /// Subscribes to what an operation asks for.
    ///
    /// ```swift
    /// for try await result in try client.subscribe(to: .newPosts(in: "news")) { show(result.data) }
    /// ```
    /// Operations that ask the same at the same time share one subscription. What the server says is wrong with one result
    /// comes with it, and is an error only where the endpoint's policy is strict.
    ///
    /// - Parameters:
    ///   - operation: what to ask, a subscription.
    ///   - endpoint: where; the container's `graphQLEndpoint` where nil. It says how (`GraphQLEndpoint.subscriptions`).
    ///   - decoder: how values are made; the container's `bodyDecoder` where nil.
    ///   - buffering: what becomes of results that are not read in time; by default 4,096 may wait.
    ///   - configure: says more of the operation before it is run: partition, deadline, context.
    /// - Returns: the results. Its iterator throws `NetworkError`: of kind `.graphQL` where the server refuses the operation,
    ///   `.unsupported` where it takes no subscriptions, `.decoding` where a result is not what was expected, or why there
    ///   is no connection any more.
    /// - Throws: `NetworkError` where it cannot be sent.
    public func subscribe<Input: Encodable, Output: Decodable & SendableMetatype>(
        to operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil,
        decoder: (any BodyDecoder)? = nil,
        buffering: GraphQLBuffering = .failing(4096),
        _ configure: Configuring = { _ in }
    ) throws(NetworkError) -> GraphQLSubscription<Output> {
        let prepared = try PreparedOperation(operation, at: endpoint, in: container)
        let (key, policy) = (prepared.rootKey, prepared.endpoint.errorPolicy)
        let decoder = decoder ?? container.bodyDecoder
        return GraphQLSubscription(
            client: self,
            operation: try subscription(prepared.request, at: prepared.endpoint, configure),
            buffering: buffering
        ) { response throws(NetworkError) in
            let answer = try GraphQLAnswer(reading: response)
            do throws(NetworkError) {
                return try answer.decode(Output.self, at: key, policy, with: decoder)
            } catch {
                // One result that could not be made is not the end of those that follow.
                guard error.kind == .graphQL, policy != .strict else { throw error }
                return GraphQLResponse(
                    data: nil,
                    errors: answer.errors,
                    extensions: answer.extensions,
                    response: response
                )
            }
        }
    }

    /// Subscribes to what a request asks for, and gives the results as JSON: for code that reads them itself.
    ///
    /// - Parameters:
    ///   - request: what to ask, a subscription.
    ///   - endpoint: where; the container's `graphQLEndpoint` where nil.
    ///   - buffering: what becomes of results that are not read in time; by default 4,096 may wait.
    ///   - configure: says more of the operation before it is run.
    /// - Throws: `NetworkError` where it cannot be sent.
    public func subscribe(
        to request: GraphQLRequest,
        at endpoint: GraphQLEndpoint? = nil,
        buffering: GraphQLBuffering = .failing(4096),
        _ configure: Configuring = { _ in }
    ) throws(NetworkError) -> GraphQLSubscription<JSONValue> {
        try request.checkVariables()
        return GraphQLSubscription(
            client: self,
            operation: try subscription(request, at: try container.endpoint(endpoint), configure),
            buffering: buffering
        ) { response throws(NetworkError) in
            let answer = try GraphQLAnswer(reading: response)
            return GraphQLResponse(
                data: try answer.data.map { range throws(NetworkError) in try JSONValue(parsing: answer[range]) },
                errors: answer.errors,
                extensions: answer.extensions,
                response: response
            )
        }
    }

    private func subscription(
        _ request: GraphQLRequest,
        at endpoint: GraphQLEndpoint,
        _ configure: Configuring
    ) throws(NetworkError) -> NetworkOperation {
        guard request.kind == .subscription else {
            throw NetworkError(
                .badRequest,
                during: .build,
                "the operation is a \(request.kind), not a subscription",
                advice: "use execute(_:)"
            )
        }
        var operation = try liveOperation(request, at: endpoint)
        configure(&operation)
        return operation
    }

    /// The operation of a request that goes the way of subscriptions.
    ///
    /// - Throws: `NetworkError` where it cannot be sent.
    package func liveOperation(
        _ request: GraphQLRequest,
        at endpoint: GraphQLEndpoint
    ) throws(NetworkError) -> NetworkOperation {
        let message = DocumentMessage(request, endpoint.liveDocuments, method: try endpoint.liveMethod)
        let url = try endpoint.target.url(in: container)
        let revision = try DocumentRevision(message, at: endpoint, to: url)
        var operation = NetworkOperation(revision.made, kind: NetworkOperation.Kind(request.kind))
        operation.operationName = request.operationName
        operation.performer = try SubscriptionPerformer(request, at: endpoint)
        // What a subscription has given would be given again.
        if request.kind != .subscription, revision.made.isGet { operation.revision = revision }
        return operation
    }
}

extension GraphQLEndpoint {
    private var hasWebSocket: Bool { subscriptions.contains(where: \.isWebSocket) }

    /// How an operation is asked for whose results come over time.
    fileprivate var liveMethod: QueryMethod {
        get throws(NetworkError) {
            guard subscriptionMethod == .get else { return .post }
            let hasOther = subscriptions.contains { way in
                if case .events(.distinct) = way { return false }
                return true
            }
            if hasOther { throw .getBesideOthers }
            return .get
        }
    }

    /// What is sent of a document whose results come over time.
    fileprivate var liveDocuments: DocumentStyle {
        switch documents {
        // A server that does not know a hash would have to be asked twice.
        case .automatic: .text
        // The path would be the WebSocket's too, which is for all documents.
        case .path where hasWebSocket: .text
        default: documents
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
