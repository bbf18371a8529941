import BeagleNet
import BeagleNetHTTP

/// The event streams of an endpoint, each shared by operations with the same `ConnectionKey`.
final class SharedEventStreams: Sendable {
    private let streams = Lock<[ConnectionKey: SharedEventStream]>([:])
    private let failures = ConnectionFailures<ConnectionKey>()

    /// Adds an operation to a stream that it can share, opening one if necessary.
    ///
    /// - Throws: The error of another operation that has just failed to open the stream, if this one is a retry.
    func join(
        _ operation: SharedOperation,
        _ attempt: SubscriptionAttempt
    ) throws(NetworkError) -> SharedEventStream {
        let key = ConnectionKey(attempt)
        while true {
            let stream = try stream(at: key, after: attempt.progress.lastFailure)
            if stream.join(operation, attempt) { return stream }
            // The stream has just ended.
            remove(stream, at: key)
        }
    }

    /// Retires all streams. Each one closes some time after its last operation has ended.
    func retireAll() {
        failures.removeAll()
        for stream in streams.withLock({ Array($0.values) }) { stream.retire() }
    }

    private func stream(at key: ConnectionKey, after lastFailure: Int?) throws(NetworkError) -> SharedEventStream {
        if let stream = streams.withLock({ $0[key] }) { return stream }
        if let error = failures.failure(at: key, after: lastFailure) { throw error }
        let new = SharedEventStream { [weak self] in self?.end($0, $1, key) }
        return streams.withLock { streams in
            if let other = streams[key] { return other }
            streams[key] = new
            return new
        }
    }

    /// - Returns: The error for all operations of the stream, or `nil` to use the stream's own error.
    private func end(
        _ stream: SharedEventStream,
        _ loss: SharedEventStream.Loss?,
        _ key: ConnectionKey
    ) -> NetworkError? {
        let isCurrent = streams.withLock { $0[key] === stream }
        let error = loss.map { loss in
            failures.record(
                loss.error,
                at: key,
                isAcknowledged: loss.isOpen,
                hasDeliveredResults: loss.hasDeliveredResults,
                isCurrent: isCurrent,
                loss.clock
            )
        }
        if loss == nil, isCurrent { failures.remove(key) }
        remove(stream, at: key)
        return error
    }

    private func remove(_ stream: SharedEventStream, at key: ConnectionKey) {
        streams.withLock { streams in
            if streams[key] === stream { streams[key] = nil }
        }
    }
}

/// Performs operations over a single event stream that the operations of an endpoint share.
///
/// Source: https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md (single connection mode)
struct SharedEventStreamPerformer: AttemptPerformer {
    static let name = "a shared event stream"

    func perform(_ attempt: SubscriptionAttempt) async throws(NetworkError) {
        let operation = SharedOperation(attempt)
        let stream = try attempt.endpoint.state.eventStreams.join(operation, attempt)
        defer {
            operation.leave()
            stream.leave(operation, attempt.operation.clock)
        }
        let response = try await operation.wait()
        if let response { try await operation.conclude(with: response, stream) }
    }
}
