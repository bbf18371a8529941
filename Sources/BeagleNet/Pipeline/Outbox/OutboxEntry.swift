public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Outbox {
    /// What an outbox tells of an operation that it keeps. Fields, body and query are not told: they may be secret.
    public struct Entry: Sendable, Hashable, Identifiable {
        /// Where an entry is on its way.
        public enum State: Sendable, Hashable {
            /// It waits for its turn.
            case waiting
            /// It is being sent.
            case sending
            /// It is not sent any more, unless `Outbox.retry` is called, for this reason: the status with which the server
            /// refused it (`422`), `redirected` where the answer is another page's and does not tell whether it is done,
            /// `expired`, or the kind of an error because of which it can never be sent (`bad_url`).
            case refused(String)
        }

        /// The same for messages that are the same to a server which heeds the `Idempotency-Key`.
        public let id: String
        /// The queue in which it waits; entries of a queue go out in their order.
        public let queue: String
        /// What sort of operation it is.
        public let kind: NetworkOperation.Kind
        /// Its method.
        public let method: HTTPRequest.Method
        /// Its URL without user and query.
        public let url: String
        /// When it was written to disk, by the system's clock.
        public let accepted: Date
        /// Bytes of its file.
        public let bytes: Int
        /// Where it is.
        public internal(set) var state: State
    }
}

extension Outbox.Entry {
    init(_ message: OutboxMessage, id: String, bytes: Int, state: State) {
        self.id = id
        queue = message.queue
        kind = message.kind
        method = message.head.method
        url = message.head.redactedURL
        accepted = Date(timeIntervalSince1970: message.accepted)
        self.bytes = bytes
        self.state = state
    }
}

extension Outbox.Entry: CustomStringConvertible {
    /// Method, URL without query, and state.
    public var description: String {
        let state =
            switch state {
            case .waiting: "waiting"
            case .sending: "sending"
            case .refused(let reason): "refused: \(reason)"
            }
        return "\(method.rawValue) \(url) (\(state))"
    }
}
