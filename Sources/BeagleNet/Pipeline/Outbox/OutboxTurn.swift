import BeagleNetHTTP

/// The sending of an operation by the one who asked for it, in a task that waits for its turn.
struct OutboxTurn: Sendable {
    let sending: OutboxSending
    private let signal: AsyncStream<Void>.Continuation
    private let task: Task<Outbox.Outcome?, Never>

    /// - Parameters:
    ///   - sending: what it is.
    ///   - send: sends; run once at most, in a task that cancelling the caller's does not cancel.
    init(
        _ sending: OutboxSending,
        _ send: @escaping @Sendable () async throws(NetworkError) -> NetworkOperation.Result
    ) {
        let (turns, signal) = AsyncStream.makeStream(of: Void.self)
        self.sending = sending
        self.signal = signal
        task = Task {
            for await _ in turns { return await sending.run(send) }
            return nil
        }
    }

    /// Its turn has come.
    ///
    /// - Returns: what came of it; nil where it was dropped.
    func take() async -> Outbox.Outcome? {
        signal.yield()
        signal.finish()
        return await task.value
    }

    /// It will not be sent from here.
    func drop() {
        signal.finish()
    }
}
