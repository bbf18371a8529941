public import BeagleNet
public import BeagleNetHTTP

extension NetworkClient {
    /// Opens an endpoint's WebSocket immediately and keeps it open, independently of operations.
    ///
    /// ```swift
    /// let held = try client.holdWebSocket(of: endpoint)
    /// ```
    /// The WebSocket is shared by operations with the same header fields and `partition`; the hold itself sends no
    /// operation. The header fields are those at the time of the call: when a user signs in or out, cancel the hold and
    /// create another. `GraphQLSocketOptions.onEvent` reports the state of the connection.
    ///
    /// A lost WebSocket is replaced as the container's `RetryInterceptor` specifies (`subscriptionBackoff`), which by
    /// default gives up after ten consecutive failures. Because the hold receives no results, each connection that was
    /// open for less than 30 s counts as a failure. If an intermediary closes silent connections sooner, set
    /// `GraphQLSocketOptions.keepAlive`. Without a `RetryInterceptor` the first loss ends the hold, and a
    /// `DeadlineInterceptor` ends it after its deadline.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint, or `nil` for the container's `graphQLEndpoint`.
    ///   - configure: Configures the operation that holds the WebSocket, such as its partition.
    ///   - onEnd: Receives the reason for which the hold ended, unless it was cancelled: for example, that the server
    ///     doesn't support WebSockets, or that too many consecutive connections failed. Called at most once, on any
    ///     thread; does nothing by default.
    /// - Returns: The hold. After its cancellation, the WebSocket closes as usual
    ///   (`GraphQLSocketOptions.lingerDuration`). Releasing the hold without cancelling it has no effect; it also
    ///   retains the client.
    /// - Throws: `NetworkError` if the hold can't start, for example because the endpoint's `subscriptions` have no
    ///   WebSocket.
    public func holdWebSocket(
        of endpoint: GraphQLEndpoint? = nil,
        _ configure: Configure = { _ in },
        onEnd: @escaping @Sendable (NetworkError) -> Void = { _ in }
    ) throws(NetworkError) -> any RequestToken {
        let endpoint = try container.endpoint(endpoint)
        guard endpoint.subscriptions.contains(where: \.isWebSocket) else { throw .noWebSocketToHold }
        // A placeholder for interceptors, which is never sent.
        let request = GraphQLRequest(query: "subscription { __typename }", kind: .subscription)
        var operation = try operationOverSubscriptionTransport(request, at: endpoint)
        operation.performer = try SubscriptionPerformer(request, at: endpoint, isHolding: true)
        operation.isShared = false
        configure(&operation)
        return AnyRequestToken(
            Task { [self, operation] in
                let end: NetworkError
                do throws(NetworkError) {
                    _ = try await run(operation) { _ in }
                    end = .responseToHold
                } catch {
                    end = error
                }
                // A cancellation from elsewhere, such as by the hold's scope, is reported.
                if !Task.isCancelled { onEnd(end) }
            }
        )
    }
}

extension NetworkError {
    fileprivate static let noWebSocketToHold = NetworkError(
        .badConfiguration,
        during: .build,
        "GraphQLEndpoint.subscriptions contains no WebSocket to hold open",
        advice: "add .webSocket()"
    )

    fileprivate static let responseToHold = NetworkError(
        .other,
        during: .response,
        "an interceptor returned a response to an operation that only holds a WebSocket open",
        advice: "let the interceptor pass subscriptions on"
    )
}
