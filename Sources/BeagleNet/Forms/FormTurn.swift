import BeagleNetHTTP
import BeagleNetRequestBuilder

/// Sees to it that a form is submitted once at a time: who asks for the same while that is under way joins it.
final class FormTurn: Sendable {
    /// What is asked of a server.
    struct Message: Sendable, Hashable {
        var url: URL
        var data: Request.FormData
        var query: [URLQueryItem]
        var headers: [String: String]
    }

    /// What stays the same when a message is sent again.
    struct Identity: Sendable {
        let message: Message
        /// Random; a string of RFC 9651, 3.3.3, as the header is to be.
        let idempotencyKey = "\"\(UUID().uuidString.lowercased())\""
        /// A server may compare the bytes sent under one key.
        let boundary = MultipartForm.randomBoundary()
    }

    typealias Outcome = Result<FormReply, NetworkError>
    typealias Progress = @Sendable (TransferProgress) -> Void
    /// Submits, telling its progress.
    typealias Work = @Sendable (Identity, @escaping Progress) async -> Outcome

    private struct Waiter: Sendable {
        let progress: Progress?
        let completion: @Sendable (Outcome) -> Void
    }

    private struct State: Sendable {
        var run = 0
        var lastWaiter = 0
        var waiters: [Int: Waiter] = [:]
        var task: Task<Void, Never>?
        /// That of what was sent last and has not succeeded.
        var identity: Identity?
    }

    private let state = Lock(State())

    /// Joins what is under way, or begins. Cancelling the task leaves at once; where nobody waits any more, the transfer
    /// is cancelled.
    ///
    /// - Throws: `NetworkError`; of kind `.badRequest` where something else is under way.
    func result(
        of message: Message,
        progress: Progress?,
        _ work: @escaping Work
    ) async throws(NetworkError) -> FormReply {
        if Task.isCancelled { throw .cancelledBeforeStart }
        return try await withCancellableToken { completion in
            guard let id = self.join(message, Waiter(progress: progress, completion: completion), work) else {
                completion(.failure(.otherValues))
                return nil
            }
            return Token(turn: self, id: id, completion: completion)
        }.get()
    }

    private struct Token: RequestToken {
        let turn: FormTurn
        let id: Int
        let completion: @Sendable (Outcome) -> Void

        func cancel() {
            if turn.leave(id) { completion(.failure(.left)) }
        }
    }

    private func join(_ message: Message, _ waiter: Waiter, _ work: @escaping Work) -> Int? {
        state.withLock { state in
            if state.task != nil, state.identity?.message != message { return nil }
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = waiter
            if state.task == nil {
                let kept = state.identity.flatMap { $0.message == message ? $0 : nil }
                let identity = kept ?? Identity(message: message)
                state.identity = identity
                state.run += 1
                let run = state.run
                state.task = Task {
                    self.finish(await work(identity) { self.tell($0, of: run) }, run)
                }
            }
            return state.lastWaiter
        }
    }

    /// - Returns: whether there was something to leave.
    private func leave(_ id: Int) -> Bool {
        // Let go outside of the lock: what it holds may leave once more.
        let (left, task) = state.withLock { state in
            let left = state.waiters.removeValue(forKey: id)
            let isLast = left != nil && state.waiters.isEmpty
            defer { if isLast { state.task = nil } }
            return (left, isLast ? state.task : nil)
        }
        let wasThere = left != nil
        task?.cancel()
        return wasThere
    }

    private func tell(_ progress: TransferProgress, of run: Int) {
        let told = state.withLock { $0.run == run ? Array($0.waiters.values) : [] }
        for waiter in told { waiter.progress?(progress) }
    }

    private func finish(_ outcome: Outcome, _ run: Int) {
        let waiters: [Waiter] = state.withLock { state in
            // Those of a run that everybody left are those of the next.
            guard state.run == run, state.task != nil else { return [] }
            defer { state.waiters = [:] }
            state.task = nil
            if case .success(let reply) = outcome, reply.isAccepted { state.identity = nil }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.completion(outcome) }
    }
}

extension NetworkError {
    fileprivate static let otherValues = NetworkError(
        .badRequest,
        during: .build,
        "the form is being submitted with other values, or to another place",
        advice: "wait until that has ended"
    )
}
