public import BeagleNet
public import BeagleNetHTTP

extension NetworkClient {
    /// Opens an endpoint's WebSocket at once, and keeps it open: no operation waits for it, and none ends it by leaving.
    ///
    /// ```swift
    /// let held = try client.holdWebSocket(of: endpoint)
    /// ```
    /// It is the one that operations share which have the same header fields and `partition`; nothing is asked over it. Those are
    /// what they are now: when somebody signs in or out, cancel it and hold anew. `GraphQLSocketOptions.onEvent` tells how it is.
    ///
    /// One that is lost is followed by another, as the container's `RetryInterceptor` says (`subscriptionBackoff`), which gives up
    /// after ten in a row by default. As it hears no results, each counts that was not open for 30 s: where something on the way
    /// ends silent connections sooner, set `GraphQLSocketOptions.keepAlive`. Without that interceptor the first loss ends it, and
    /// a `DeadlineInterceptor` its time.
    ///
    /// - Parameters:
    ///   - endpoint: whose; the container's `graphQLEndpoint` where nil.
    ///   - configure: says more of the operation that holds it, as its partition.
    ///   - onEnd: hears why it is not held any more, unless the hold was cancelled: as that the server takes no WebSockets there, or
    ///     that too many connections in a row were lost. Called once at most, on any thread; by default nobody hears.
    /// - Returns: the hold. Once cancelled, the WebSocket ends as others do (`GraphQLSocketOptions.linger`); letting go of it
    ///   alone ends nothing, and the client stays as long.
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
        return AnyRequestToken(
            Task { [self, operation] in
                let end: NetworkError
                do throws(NetworkError) {
                    _ = try await run(operation) { _ in }
                    end = .holdAnswered
                } catch {
                    end = error
                }
                // What is cancelled by another, as by its scope, is told.
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

    fileprivate static let holdAnswered = NetworkError(
        .other,
        during: .response,
        "an interceptor returned a response to an operation that only holds a WebSocket open",
        advice: "let the interceptor pass subscriptions on"
    )
}
