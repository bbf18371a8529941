public import BeagleNet
public import BeagleNetHTTP

extension NetworkClient {
    /// Opens an endpoint's WebSocket at once, and keeps it open: no operation waits for it, and none ends it by leaving.
    ///
    /// ```swift
    /// let held = try client.holdWebSocket(of: endpoint)
    /// ```
    /// It is the one that operations share which have the same header fields and `partition`; nothing is asked over it. One that
    /// is lost is followed by another, as `RetryInterceptor.subscriptionBackoff` says. `GraphQLSocketOptions.onEvent` tells how
    /// it is.
    ///
    /// - Parameters:
    ///   - endpoint: whose; the container's `graphQLEndpoint` where nil.
    ///   - configure: says more of the operation that holds it, as its partition.
    ///   - onEnd: hears why it is not held any more, unless it was cancelled: as that the server takes no WebSockets there, or
    ///     that too many connections in a row were lost. Called once at most, on any thread; by default nobody hears.
    /// - Returns: the hold. Once cancelled, the WebSocket ends as others do (`GraphQLSocketOptions.linger`); letting go of it
    ///   alone ends nothing.
    /// - Throws: `NetworkError` where it cannot begin, as where the endpoint's `subscriptions` have no WebSocket.
    public func holdWebSocket(
        of endpoint: GraphQLEndpoint? = nil,
        _ configure: Configuring = { _ in },
        onEnd: @escaping @Sendable (NetworkError) -> Void = { _ in }
    ) throws(NetworkError) -> any RequestToken {
        let endpoint = try container.endpoint(endpoint)
        guard endpoint.subscriptions.contains(where: \.isWebSocket) else { throw .noWebSocketToHold }
        // What interceptors see; it is never sent.
        let request = GraphQLRequest(query: "subscription { __typename }", kind: .subscription)
        var operation = try liveOperation(request, at: endpoint)
        operation.performer = try SubscriptionPerformer(request, at: endpoint, isHolding: true)
        operation.isShared = false
        configure(&operation)
        return TaskToken(
            Task { [self, operation] in
                do throws(NetworkError) {
                    _ = try await run(operation) { _ in }
                } catch {
                    if !error.isCancelled { onEnd(error) }
                }
            }
        )
    }
}

extension NetworkError {
    fileprivate static let noWebSocketToHold = NetworkError(
        .badConfiguration,
        during: .build,
        "GraphQLEndpoint.subscriptions has no WebSocket to hold open",
        advice: "name .webSocket()"
    )
}
