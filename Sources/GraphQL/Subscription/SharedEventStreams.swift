import BeagleNet
import BeagleNetHTTP

/// The event streams of an endpoint that operations share.
final class SharedEventStreams: Sendable {
    /// Who shares one: operations that go to the same place, over the same transport, for the same person.
    private struct Key: Hashable, Sendable {
        let url: String
        let partition: String
        let fields: [HTTPField]
        let transport: ObjectIdentifier

        /// nil where nothing tells whether transports are the same.
        init?(_ attempt: SubscriptionAttempt) {
            guard type(of: attempt.transport) is AnyObject.Type else { return nil }
            transport = ObjectIdentifier(attempt.transport as AnyObject)
            let head = attempt.operation.transfer.head
            url = head.urlText
            partition = attempt.operation.partition
            fields = head.headerFields.filter { !Self.passedOver.contains($0.name) }
        }

        /// Fields of the body, and what traces one operation.
        private static let passedOver: Set<HTTPField.Name> = [
            .accept, .contentType, .contentLength, HTTPField.Name("traceparent")!, HTTPField.Name("tracestate")!,
        ]
    }

    private let streams = Lock<[Key: SharedEventStream]>([:])

    /// Takes part in the stream of those that an operation can share one with; where there is none, one is opened.
    func join(_ attempt: SubscriptionAttempt) -> (SharedEventStream, SharedEventStream.Membership) {
        let key = Key(attempt)
        while true {
            let stream = key.map { key in streams.withLock { $0[key] } ?? add(at: key) } ?? SharedEventStream()
            if let membership = stream.join(attempt) { return (stream, membership) }
            // It has ended just now.
            if let key { remove(stream, at: key) }
        }
    }

    private func add(at key: Key) -> SharedEventStream {
        let new = SharedEventStream { [weak self] in self?.remove($0, at: key) }
        return streams.withLock { streams in
            if let other = streams[key] { return other }
            streams[key] = new
            return new
        }
    }

    private func remove(_ stream: SharedEventStream, at key: Key) {
        streams.withLock { streams in
            if streams[key] === stream { streams[key] = nil }
        }
    }
}
