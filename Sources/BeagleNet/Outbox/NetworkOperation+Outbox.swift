import BeagleNetHTTP
import BeagleNetRequestBuilder

extension Outbox {
    /// A choice of whether an `OutboxInterceptor` stores an operation.
    public enum Choice: Sendable, Hashable {
        /// Follows the interceptor's `kinds`: forms and mutations by default, unless their method is safe (RFC 9110,
        /// 9.2.1).
        ///
        /// A `Form` with a filled-in secret, such as a password, isn't stored. Neither is an operation with its own
        /// address guard, pins, identity or redirect function, because these can't be stored on disk. The log says so.
        /// If such an operation fails in a way in which another would have been kept, the `advice` of the error says
        /// so, too.
        case automatic
        /// The operation is sent immediately or not at all.
        case never
        /// The operation is stored in the queue of this name, or rejected.
        case queue(String)
    }
}

extension NetworkOperation {
    private enum OutboxChoiceKey: ContextKey {
        static let defaultValue = Outbox.Choice.automatic
    }

    private enum OutboxMessageKey: ContextKey {
        static let defaultValue: OutboxMessage? = nil
    }

    private enum OutboxWriteFlagKey: ContextKey {
        static let defaultValue: OutboxWriteFlag? = nil
    }

    private enum ReasonNotToKeepKey: ContextKey {
        static let defaultValue: String? = nil
    }

    private enum IdempotencyKeyKey: ContextKey {
        static let defaultValue: String? = nil
    }

    /// Whether an `OutboxInterceptor` stores the operation; `.automatic` by default.
    public var outbox: Outbox.Choice {
        get { context[OutboxChoiceKey.self] }
        set { context[OutboxChoiceKey.self] = newValue }
    }

    /// The stored message that this operation sends.
    var outboxMessage: OutboxMessage? { context[OutboxMessageKey.self] }

    /// A mark that is set when an outbox begins to write the operation.
    var outboxWriteFlag: OutboxWriteFlag? {
        get { context[OutboxWriteFlagKey.self] }
        set { context[OutboxWriteFlagKey.self] = newValue }
    }

    /// The reason why an outbox must not store the operation, and a solution; `nil` if it may.
    var reasonNotToStore: String? {
        get { context[ReasonNotToKeepKey.self] }
        set { context[ReasonNotToKeepKey.self] = newValue }
    }

    /// The `Idempotency-Key` that an outbox uses if the message has none.
    var idempotencyKey: String? {
        get { context[IdempotencyKeyKey.self] }
        set { context[IdempotencyKeyKey.self] = newValue }
    }

    /// Creates the operation that sends a stored message.
    ///
    /// The client builds a message from it, with the additions of its builder. The `OutboxInterceptor` then replaces
    /// that message with the stored one.
    ///
    /// - Throws: A `NetworkError` of kind `.badURL`.
    init(kept message: OutboxMessage) throws(NetworkError) {
        let url: URL
        do {
            url = try URLReference(message.head.urlText).url()
        } catch {
            throw NetworkError(
                .badURL,
                during: .build,
                "the URL of an outbox entry is invalid: \(error.message)",
                advice: error.advice
            )
        }
        let fields = message.head.headerFields
        let headers = Dictionary(fields.map { ($0.name.rawName, $0.opaqueValue) }) { "\($0), \($1)" }
        let body = message.body.map { Request.Body.data($0, contentType: fields[.contentType] ?? "") }
        let method = message.head.method.rawValue
        let data =
            body.map { Request.RequestData(method: method, headers: headers, body: $0) }
            ?? Request.RequestData(method: method, headers: headers)
        self.init(Request(url: url, type: .rawRequest(data)), kind: message.kind, policy: .networkOnly)
        isShared = false
        partition = message.partition
        context[OutboxMessageKey.self] = message
    }
}

/// A flag for whether an outbox may have written an operation to disk.
final class OutboxWriteFlag: Sendable {
    private let state = Lock(false)

    /// Whether writing has begun, or is done.
    var isSet: Bool { state.withLock { $0 } }

    func set() {
        state.withLock { $0 = true }
    }
}

extension TransferOptions {
    /// The reason not to store an operation with such options: a client that sends it later wouldn't have them.
    static let guardsAreNotStored = "it has its own address guard, pins, identity or redirect function"

    /// Whether these options restrict a transfer in a way that the others don't.
    func guards(beyond others: TransferOptions) -> Bool {
        (addressGuard != nil && addressGuard != others.addressGuard)
            || (!pins.isEmpty && pins != others.pins)
            || (identity != nil && identity != others.identity)
            || (redirects.decide != nil && redirects != others.redirects)
    }
}
