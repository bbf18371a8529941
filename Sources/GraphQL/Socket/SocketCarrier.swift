import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Performs operations over a WebSocket that those of an endpoint share.
struct SocketCarrier: SubscriptionCarrier {
    let options: GraphQLSocketOptions

    func perform(_ attempt: SubscriptionAttempt) async throws(NetworkError) {
        let operation = SocketOperation(attempt.parameters, attempt.receive)
        let (socket, id) = try join(operation, attempt)
        try await operation.wait { socket.leave(id) }
    }

    /// A function of its own, so that what waits keeps nothing of the attempt.
    @inline(never)
    private func join(
        _ operation: SocketOperation,
        _ attempt: SubscriptionAttempt
    ) throws(NetworkError) -> (GraphQLSocket, Int) {
        guard let transport = attempt.transport as? any WebSocketTransport else { throw .noWebSockets }
        let key = SocketPool.Key(attempt, options)
        return try attempt.endpoint.memory.sockets.join(
            operation,
            key,
            attempt.transport,
            after: attempt.progress.lastFailure
        ) { onEnd in
            let opening = SocketOpening(
                options,
                attempt.operation.transfer,
                declaredOrigins: attempt.operation.declaredOrigins,
                home: attempt.endpoint.home ?? attempt.operation.request.url,
                maxMessageBytes: attempt.endpoint.maxMessageBytes,
                over: transport
            )
            return GraphQLSocket(opening, options, clock: attempt.operation.clock, onEnd: onEnd)
        }
    }
}
