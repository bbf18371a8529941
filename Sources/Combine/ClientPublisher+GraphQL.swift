public import BeagleNetGraphQL
import BeagleNetHTTP

extension NetworkClient {
    /// A publisher of what a GraphQL operation gives: the answer of a query or mutation, or each result of a subscription up to
    /// its end. Cancelling tells the server.
    ///
    /// Of a subscription, 64 results that nobody wants yet are kept; then the oldest make room, and the container's logger is
    /// told once.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - endpoint: where; the container's `graphQLEndpoint` where nil.
    public func publisher<Input: Encodable & Sendable, Output: Decodable & Sendable>(
        for operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil
    ) -> ClientPublisher<GraphQLResponse<Output>> {
        let name = operation.operationName ?? "a subscription"
        return ClientPublisher(onDrop: { logDroppedResults(of: name) }) { emit throws(NetworkError) in
            guard try operation.isSubscription else { return emit(try await execute(operation, at: endpoint)) }
            var results = try subscribe(to: operation, at: endpoint).makeAsyncIterator()
            while let result = try await results.next() { emit(result) }
        }
    }
}

extension GraphQLOperation {
    fileprivate var isSubscription: Bool {
        get throws(NetworkError) {
            try GraphQLDocument.cached(operationString).operation(named: operationName).kind == .subscription
        }
    }
}

extension NetworkClient {
    /// Tells that a subscriber wants less than comes.
    func logDroppedResults(of name: String) {
        container.logger.log(DropMessage(name: name))
    }
}

/// What a log says of results that had to make room. What they hold is not said: it may be secret.
private struct DropMessage: LogType {
    let name: String

    var category: String { "GraphQL" }
    var message: String { "a subscriber of \(name) is too slow: its oldest results are dropped" }
    var level: LogLevel { .warning }
}
