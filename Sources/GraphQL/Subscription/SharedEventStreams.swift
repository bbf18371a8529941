import BeagleNet
import BeagleNetHTTP

/// The event streams of an endpoint that operations of the same `ConnectionKey` share.
final class SharedEventStreams: Sendable {
    private let streams = Lock<[ConnectionKey: SharedEventStream]>([:])
    private let failures = ConnectionFailures<ConnectionKey>()

    /// Takes part in the stream of those that an operation can share one with; where there is none, one is opened.
    ///
    /// - Throws: why another could not open one that tried just now, where this one tries again.
    func join(
        _ operation: SharedOperation,
        _ attempt: SubscriptionAttempt
    ) throws(NetworkError) -> SharedEventStream {
        let key = ConnectionKey(attempt)
        while true {
            let stream = try stream(at: key, after: attempt.progress.lastFailure)
            if stream.join(operation, attempt) { return stream }
            // It has ended just now.
            remove(stream, at: key)
        }
    }

    /// Lets nobody join those that there are; each ends some time after its last operation.
    func retireAll() {
        failures.forget()
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

    /// - Returns: the error for all that were on it; nil for the one that it ended with.
    private func end(
        _ stream: SharedEventStream,
        _ loss: SharedEventStream.Loss?,
        _ key: ConnectionKey
    ) -> NetworkError? {
        let isCurrent = streams.withLock { $0[key] === stream }
        let error = loss.map { loss in
            failures.note(
                loss.error,
                at: key,
                isAcknowledged: loss.isOpen,
                hasGiven: loss.hasGiven,
                isCurrent: isCurrent,
                loss.clock
            )
        }
        if loss == nil, isCurrent { failures.forget(key) }
        remove(stream, at: key)
        return error
    }

    private func remove(_ stream: SharedEventStream, at key: ConnectionKey) {
        streams.withLock { streams in
            if streams[key] === stream { streams[key] = nil }
        }
    }
}
