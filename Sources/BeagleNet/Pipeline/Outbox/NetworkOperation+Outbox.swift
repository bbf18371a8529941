import BeagleNetHTTP
import BeagleNetRequestBuilder

/// Whether an `OutboxInterceptor` keeps an operation.
public enum OutboxChoice: Sendable, Hashable {
    /// As the interceptor's `kinds` say: forms and mutations by default, unless their method is safe (RFC 9110, 9.2.1). A
    /// `Form` with a secret that is filled in, such as a password, is not kept, nor what has an address guard, pins, an
    /// identity or a function for redirects of its own: these are not on the disk. The log says so, and so does the `advice`
    /// of the error if such an operation fails in a way in which another would have been kept.
    case automatic
    /// It is sent at once or not at all.
    case never
    /// It is kept, in the queue of this name, or refused.
    case queue(String)
}

extension NetworkOperation {
    private enum OutboxChoiceKey: ContextKey {
        static let defaultValue = OutboxChoice.automatic
    }

    private enum OutboxMessageKey: ContextKey {
        static let defaultValue: OutboxMessage? = nil
    }

    private enum OutboxMarkKey: ContextKey {
        static let defaultValue: OutboxMark? = nil
    }

    private enum ReasonNotToKeepKey: ContextKey {
        static let defaultValue: String? = nil
    }

    private enum IdempotencyKeyKey: ContextKey {
        static let defaultValue: String? = nil
    }

    /// Whether an `OutboxInterceptor` keeps it; `.automatic` by default.
    public var outbox: OutboxChoice {
        get { context[OutboxChoiceKey.self] }
        set { context[OutboxChoiceKey.self] = newValue }
    }

    /// What an outbox sends with this operation.
    var outboxMessage: OutboxMessage? { context[OutboxMessageKey.self] }

    /// Told when an outbox begins to write it.
    var outboxMark: OutboxMark? {
        get { context[OutboxMarkKey.self] }
        set { context[OutboxMarkKey.self] = newValue }
    }

    /// Why an outbox must not keep it, and what to do about that; `nil` if it may.
    var reasonNotToKeep: String? {
        get { context[ReasonNotToKeepKey.self] }
        set { context[ReasonNotToKeepKey.self] = newValue }
    }

    /// The key under which an outbox keeps it where the message has none.
    var idempotencyKey: String? {
        get { context[IdempotencyKeyKey.self] }
        set { context[IdempotencyKeyKey.self] = newValue }
    }

    /// The operation that sends what an outbox kept. The client makes a message of it, with what its builder adds, in
    /// which the `OutboxInterceptor` puts what was kept in its place.
    ///
    /// - Throws: `NetworkError` of kind `.badURL`.
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
        let body = message.body.map { RequestBody.data($0, contentType: fields[.contentType] ?? "") }
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

/// Whether an outbox may have an operation on the disk.
final class OutboxMark: Sendable {
    private let state = Lock(false)

    /// Whether it has begun to write it, or has written it.
    var isTaken: Bool { state.withLock { $0 } }

    func take() {
        state.withLock { $0 = true }
    }
}

extension TransferOptions {
    /// Why an outbox must not keep an operation whose options guard it: its client would not bring them again.
    static let guardsAreNotKept = "it has its own address guard, pins, identity or redirect function"

    /// Whether they guard a transfer in a way that others do not.
    func guards(beyond others: TransferOptions) -> Bool {
        (addressGuard != nil && addressGuard != others.addressGuard)
            || (!pins.isEmpty && pins != others.pins)
            || (identity != nil && identity != others.identity)
            || (redirects.decide != nil && redirects != others.redirects)
    }
}
