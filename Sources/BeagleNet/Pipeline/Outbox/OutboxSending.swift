import BeagleNetHTTP

/// The sending of an entry, as those see it who have a part in it.
final class OutboxSending: Sendable {
    /// What the code that runs is a part of.
    @TaskLocal static var current: OutboxSending?

    private struct State {
        var isRepeated = false
        var isOver = false
    }

    private let state = Lock(State())
    /// The `Idempotency-Key` of the entry: what carries it is an answer to the entry.
    let key: String

    init(key: String) {
        self.key = key
    }

    /// Whether the code that runs belongs to a sending, which would wait for its own end in an outbox.
    static var isUnderWay: Bool { current.map { !$0.state.withLock(\.isOver) } ?? false }

    /// Whether the message went out more than once, and may have reached the server before the last time.
    var isRepeated: Bool { state.withLock(\.isRepeated) }

    /// The message goes out once more, and may have reached the server before.
    func noteRepetition() {
        state.withLock { $0.isRepeated = true }
    }

    /// Sends.
    func run(
        _ send: @Sendable () async throws(NetworkError) -> NetworkOperation.Result
    ) async -> Outbox.Outcome {
        // A task that was begun meanwhile and lasts is a part of it no more.
        defer { state.withLock { $0.isOver = true } }
        return await Self.$current.withValue(self) { await .catching(send) }
    }
}

extension NetworkOperation {
    private enum OutboxSendingKey: ContextKey {
        static let defaultValue: OutboxSending? = nil
    }

    /// The sending that this operation is.
    var outboxSending: OutboxSending? {
        get { context[OutboxSendingKey.self] }
        set { context[OutboxSendingKey.self] = newValue }
    }
}
