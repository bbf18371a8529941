public import BeagleNetGraphQL
import BeagleNetHTTP

extension NetworkClient {
    /// A publisher of what a GraphQL operation gives: the answer of a query or mutation, or each result of a subscription up to
    /// its end. Cancelling tells the server.
    ///
    /// Of a subscription, 64 results that nobody wants yet are kept; then the oldest make room.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - endpoint: where; the container's `graphQLEndpoint` where nil.
    public func publisher<Input: Encodable & Sendable, Output: Decodable & Sendable>(
        for operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil
    ) -> ClientPublisher<GraphQLResponse<Output>> {
        ClientPublisher { emit throws(NetworkError) in
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
