import BeagleNet
import BeagleNetHTTP

/// The WebSockets of an endpoint, each shared by the operations of one person.
///
/// Shared is what has the same `ConnectionKey` and the same options. One that has ended is replaced by the next operation.
final class SocketPool: Sendable {
    /// What the operations of one WebSocket have in common.
    struct Key: Hashable, Sendable {
        private let connection: ConnectionKey
        private let subprotocol: GraphQLSocketOptions.Subprotocol
        private let options: GraphQLSocketOptions.Identity
        /// Whether its server is told the options' parameters.
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

        /// Whether its transport is still the one of its key.
        var isCurrent: Bool { transport.isAlive }
    }

    private let sockets = Lock<[Key: Entry]>([:])
    private let failures = ConnectionFailures<Key>()

    /// Those that can be joined.
    var all: [GraphQLSocket] { sockets.withLock { $0.values.map(\.socket) } }
    /// How many there are.
    var count: Int { sockets.withLock { $0.count } }

    /// Has an operation join the WebSocket of its key.
    ///
    /// - Parameters:
    ///   - transport: that of the key.
    ///   - lastFailure: the number of the last failure that the operation had; nil where it had none.
    ///   - make: makes one, given whether the last failed, and what to call when it has ended.
    /// - Returns: the WebSocket, and the operation's number there.
    /// - Throws: why another could not connect that tried just now, where this one tries again.
    func join(
        _ operation: SocketOperation,
        _ key: Key,
        _ transport: any HTTPTransport,
        after lastFailure: Int?,
        _ make: (_ isRetry: Bool, _ onEnd: @escaping GraphQLSocket.OnEnd) -> GraphQLSocket
    ) throws(NetworkError) -> (socket: GraphQLSocket, id: Int) {
        while true {
            // Before the lock: they ask the app's clock.
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

    /// Lets nobody join those that there are; each ends with its last operation.
    func retireAll() {
        failures.forget()
        let retired = sockets.withLock { sockets in
            defer { sockets = [:] }
            return sockets.values.map(\.socket)
        }
        for socket in retired { socket.retire() }
    }

    /// Drops those that can be joined, without a word to the server.
    func terminateAll() {
        for socket in all { socket.terminate() }
    }

    /// - Returns: the error for all that were on it; nil for the one that it ended with.
    private func end(_ socket: GraphQLSocket, _ loss: GraphQLSocket.Loss?, _ key: Key) -> NetworkError? {
        let isCurrent = sockets.withLock { $0[key]?.socket === socket }
        // Noted before another can be made: whoever comes then knows of it.
        let error = loss.map { loss in
            failures.note(
                loss.error,
                at: key,
                isAcknowledged: loss.isAcknowledged,
                hasGiven: loss.hasGiven,
                isCurrent: isCurrent,
                loss.clock
            )
        }
        if loss == nil, isCurrent { failures.forget(key) }
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

/// Tells whether a transport is still there, without keeping it.
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
