public import BeagleNetGraphQL
import BeagleNetHTTP

extension NetworkClient {
    /// Returns a publisher of the results of a GraphQL operation.
    ///
    /// A query or mutation has one result; a subscription delivers results until the server ends it. Cancelling the
    /// subscription notifies the server. For a GraphQL subscription, the publisher buffers up to 64 results that the
    /// subscriber hasn't requested yet. After that it drops the oldest, and writes a warning to the container's logger
    /// once.
    ///
    /// - Parameters:
    ///   - operation: The operation to execute.
    ///   - endpoint: The endpoint to send it to; `nil` uses the container's `graphQLEndpoint`.
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
    /// Logs that results were dropped because the subscriber is too slow.
    func logDroppedResults(of name: String) {
        container.logger.log(DropMessage(name: name))
    }
}

/// The log message for dropped results. It doesn't include their content, which may be secret.
private struct DropMessage: LogType {
    let name: String

    var category: String { "GraphQL" }
    var message: String { "a subscriber of \(name) is too slow: its oldest results are dropped" }
    var level: LogLevel { .warning }
}
