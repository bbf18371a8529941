public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Outbox {
    /// The public description of an operation in an outbox.
    ///
    /// It contains no fields, body or query, which may be secret.
    public struct Entry: Sendable, Hashable, Identifiable {
        /// The state of an entry.
        public enum State: Sendable, Hashable {
            /// The entry waits for its turn.
            case waiting
            /// The entry is being sent.
            case sending
            /// The entry isn't sent any more, unless `Outbox.retry` is called.
            ///
            /// The value is the reason: the status with which the server refused it (`422`); `redirected` if the
            /// response is another page's and doesn't show whether the entry is delivered; `expired`; or the kind of an
            /// error because of which it can never be sent (`bad_url`).
            case refused(String)
        }

        /// The identifier of the entry, which is equal for messages that are the same to a server that supports the
        /// `Idempotency-Key`.
        public let id: String
        /// The name of its queue; entries of a queue are sent in order.
        public let queue: String
        /// The kind of operation.
        public let kind: NetworkOperation.Kind
        /// The method of the message.
        public let method: HTTPRequest.Method
        /// The URL without user information and query.
        public let url: String
        /// The time when the entry was written to disk, by the system's clock.
        public let accepted: Date
        /// The size of the file, in bytes.
        public let bytes: Int
        /// The state of the entry.
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
    /// The method, URL without query, and state.
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
