import BeagleNet
import BeagleNetHTTP

/// The WebSockets of an endpoint, each shared by the operations of one user.
///
/// Operations share a WebSocket if they have the same `ConnectionKey` and the same options. A WebSocket that has ended
/// is replaced by the next operation.
final class SocketPool: Sendable {
    /// The properties that the operations of a WebSocket have in common.
    struct Key: Hashable, Sendable {
        private let connection: ConnectionKey
        private let subprotocol: GraphQLSocketOptions.Subprotocol
        private let options: GraphQLSocketOptions.Identity
        /// Whether the server receives the options' parameters.
        private let hasParameters: Bool

        init(_ attempt: SubscriptionAttempt, _ options: GraphQLSocketOptions, hasParameters: Bool) {
            self.hasParameters = hasParameters
            connection = ConnectionKey(attempt)
            subprotocol = options.subprotocol
            self.options = options.identity
        }
    }

    private struct Entry {
        let socket: GraphQLSocket
        let transport: TransportReference

        /// Whether the transport of the key still exists.
        var isCurrent: Bool { transport.isAlive }
    }

    private let sockets = Lock<[Key: Entry]>([:])
    private let failures = ConnectionFailures<Key>()

    /// The WebSockets that accept operations.
    var all: [GraphQLSocket] { sockets.withLock { $0.values.map(\.socket) } }
    /// The number of WebSockets that accept operations.
    var count: Int { sockets.withLock { $0.count } }

    /// Adds an operation to the WebSocket of its key, creating one if necessary.
    ///
    /// - Parameters:
    ///   - transport: The transport of the key.
    ///   - lastFailure: The number of the operation's last failure, or `nil` if it had none.
    ///   - make: Creates a WebSocket. It receives whether the last one failed, and a closure to call at the end.
    /// - Returns: The WebSocket, and the operation's number in it.
    /// - Throws: The error of another operation that has just failed to connect, if this one is a retry.
    func join(
        _ operation: SocketOperation,
        _ key: Key,
        _ transport: any HTTPTransport,
        after lastFailure: Int?,
        _ make: (_ isRetry: Bool, _ onEnd: @escaping GraphQLSocket.OnEnd) -> GraphQLSocket
    ) throws(NetworkError) -> (socket: GraphQLSocket, id: Int) {
        while true {
            // Read before taking the lock, because they call the app's clock.
            let failure = failures.failure(at: key, after: lastFailure)
            let isRetry = failures.hasFailed(at: key)
            let socket = try sockets.withLock { sockets throws(NetworkError) in
                if let entry = sockets[key], entry.isCurrent { return entry.socket }
                if let failure { throw failure }
                let socket = make(isRetry) { [weak self] in self?.end($0, $1, key) }
                sockets[key] = Entry(socket: socket, transport: TransportReference(transport))
                return socket
            }
            if let id = socket.join(operation) { return (socket, id) }
            remove(socket, key)
        }
    }

    /// Retires all WebSockets. Each one closes after its last operation has ended.
    func retireAll() {
        failures.removeAll()
        let retired = sockets.withLock { sockets in
            defer { sockets = [:] }
            return sockets.values.map(\.socket)
        }
        for socket in retired { socket.retire() }
    }

    /// Drops the WebSockets that accept operations, without a closing handshake.
    func terminateAll() {
        for socket in all { socket.terminate() }
    }

    /// - Returns: The error for all operations of the WebSocket, or `nil` to use the WebSocket's own error.
    private func end(_ socket: GraphQLSocket, _ loss: GraphQLSocket.Loss?, _ key: Key) -> NetworkError? {
        let isCurrent = sockets.withLock { $0[key]?.socket === socket }
        // Recorded before another WebSocket can be created, so that the next operation knows of the failure.
        let error = loss.map { loss in
            failures.record(
                loss.error,
                at: key,
                isAcknowledged: loss.isAcknowledged,
                hasDeliveredResults: loss.hasDeliveredResults,
                isCurrent: isCurrent,
                loss.clock
            )
        }
        if loss == nil, isCurrent { failures.remove(key) }
        remove(socket, key)
        return error
    }

    private func remove(_ socket: GraphQLSocket, _ key: Key) {
        let removed = sockets.withLock { sockets -> Entry? in
            guard sockets[key]?.socket === socket else { return nil }
            return sockets.removeValue(forKey: key)
        }
        withExtendedLifetime(removed) {}
    }
}

/// A weak reference to a transport.
private struct TransportReference: Sendable {
    private struct Part: Sendable {
        weak let object: (any AnyObject & Sendable)?
    }

    private let parts: [Part]

    init(_ transport: any HTTPTransport) {
        parts = transport.identity.map { Part(object: $0) }
    }

    var isAlive: Bool { parts.allSatisfy { $0.object != nil } }
}
