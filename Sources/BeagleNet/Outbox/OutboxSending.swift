import BeagleNetHTTP

/// The sending of an entry, as known to the code that takes part in it.
final class OutboxSending: Sendable {
    /// The sending to which the running code belongs.
    @TaskLocal static var current: OutboxSending?

    private struct State {
        var isRepeated = false
        var isOver = false
    }

    private let state = Lock(State())
    /// The `Idempotency-Key` of the entry.
    ///
    /// A response to a request with this key is a response to the entry.
    let key: String

    init(key: String) {
        self.key = key
    }

    /// Whether the running code belongs to a sending.
    ///
    /// Such code must not use an outbox, because it would wait for its own end.
    static var isUnderWay: Bool { current.map { !$0.state.withLock(\.isOver) } ?? false }

    /// Whether the message was sent more than once, and may have reached the server before the last time.
    var isRepeated: Bool { state.withLock(\.isRepeated) }

    /// Records that the message is sent again and may have reached the server before.
    func noteRepetition() {
        state.withLock { $0.isRepeated = true }
    }

    /// Sends the message.
    func run(
        _ send: @Sendable () async throws(NetworkError) -> NetworkOperation.Result
    ) async -> Outbox.Outcome {
        // Tasks that were started in the meantime and outlive the sending don't belong to it any more.
        defer { state.withLock { $0.isOver = true } }
        return await Self.$current.withValue(self) { await .catching(send) }
    }
}

extension NetworkOperation {
    private enum OutboxSendingKey: ContextKey {
        static let defaultValue: OutboxSending? = nil
    }

    /// The sending of which this operation is a part.
    var outboxSending: OutboxSending? {
        get { context[OutboxSendingKey.self] }
        set { context[OutboxSendingKey.self] = newValue }
    }
}
