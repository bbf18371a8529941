import BeagleNet
import BeagleNetHTTP

/// The event streams of an endpoint that operations of the same `ConnectionKey` share.
final class SharedEventStreams: Sendable {
    private let streams = Lock<[ConnectionKey: SharedEventStream]>([:])

    /// Takes part in the stream of those that an operation can share one with; where there is none, one is opened.
    func join(_ operation: SharedOperation, _ attempt: SubscriptionAttempt) -> SharedEventStream {
        let key = ConnectionKey(attempt)
        while true {
            let stream = streams.withLock { $0[key] } ?? add(at: key)
            if stream.join(operation, attempt) { return stream }
            // It has ended just now.
            remove(stream, at: key)
        }
    }

    /// Lets nobody join those that there are; each ends some time after its last operation.
    func retireAll() {
        for stream in streams.withLock({ Array($0.values) }) { stream.retire() }
    }

    private func add(at key: ConnectionKey) -> SharedEventStream {
        let new = SharedEventStream { [weak self] in self?.remove($0, at: key) }
        return streams.withLock { streams in
            if let other = streams[key] { return other }
            streams[key] = new
            return new
        }
    }

    private func remove(_ stream: SharedEventStream, at key: ConnectionKey) {
        streams.withLock { streams in
            if streams[key] === stream { streams[key] = nil }
        }
    }
}
