import BeagleNet
import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Performs operations over a WebSocket that the operations of an endpoint share.
struct WebSocketPerformer: AttemptPerformer {
    let options: GraphQLSocketOptions

    func perform(_ attempt: SubscriptionAttempt) async throws(NetworkError) {
        let operation = SocketOperation(attempt.plan.isHolding ? nil : attempt.parameters, attempt.receive)
        let (socket, id) = try join(operation, attempt)
        try await operation.wait { socket.leave(id) }
    }

    /// Joins the shared WebSocket. It is a separate function so that the waiting caller doesn't retain the attempt.
    @inline(never)
    private func join(
        _ operation: SocketOperation,
        _ attempt: SubscriptionAttempt
    ) throws(NetworkError) -> (GraphQLSocket, Int) {
        guard let transport = attempt.transport as? any WebSocket.Transport else { throw .noWebSockets }
        let hasParameters = options.parameters != nil && attempt.mayReceiveParameters
        let key = SocketPool.Key(attempt, options, hasParameters: hasParameters)
        return try attempt.endpoint.state.sockets.join(
            operation,
            key,
            attempt.transport,
            after: attempt.progress.lastFailure
        ) { isRetry, onEnd in
            let connector = WebSocketConnector(
                options,
                attempt.operation.transfer,
                declaredOrigins: attempt.operation.declaredOrigins,
                hasParameters: hasParameters,
                maxMessageBytes: attempt.endpoint.maxMessageBytes,
                over: transport
            )
            let clock = attempt.operation.clock
            return GraphQLSocket(connector, options, clock: clock, isRetry: isRetry, onEnd: onEnd)
        }
    }
}

extension SubscriptionAttempt {
    /// Whether the operation's destination may receive the endpoint's parameters.
    fileprivate var mayReceiveParameters: Bool {
        let origin = Origin(of: operation.transfer.head)
        if operation.declaredOrigins.contains(origin) { return true }
        let originURL = endpoint.parametersOriginURL ?? operation.request.url
        do throws(NetworkError) {
            let message = try HttpRequestBuilder().build(Request(url: originURL, type: .rawRequest(.init())))
            return Origin(of: message.head) == origin
        } catch {
            // The URL has no origin, for example because it is a path.
            return false
        }
    }
}
