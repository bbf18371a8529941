import BeagleNetHTTP

/// The sending of an operation by its original caller, in a task that waits for its turn.
struct OutboxSendTask: Sendable {
    let sending: OutboxSending
    private let signal: AsyncStream<Void>.Continuation
    private let task: Task<Outbox.Outcome?, Never>

    /// - Parameters:
    ///   - sending: The sending to perform.
    ///   - send: Sends the operation. It runs at most once, in a task that isn't cancelled with the caller's.
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

    /// Starts sending, because the turn has come.
    ///
    /// - Returns: The outcome; `nil` if the turn was dropped.
    func start() async -> Outbox.Outcome? {
        signal.yield()
        signal.finish()
        return await task.value
    }

    /// Drops the turn: the operation won't be sent from here.
    func cancel() {
        signal.finish()
    }
}
