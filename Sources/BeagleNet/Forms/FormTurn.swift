import BeagleNetHTTP
import BeagleNetRequestBuilder

/// Sees to it that a form is submitted once at a time: who asks for the same while that is under way joins it.
final class FormTurn: Sendable {
    /// Where a form is sent, and what goes with it.
    struct Destination: Sendable, Hashable {
        var url: URL
        var query: [URLQueryItem]
        var headers: [String: String]
        /// Whose credentials go with it: the reply of one person is not for another.
        var person: Int
    }

    /// What is asked of a server.
    struct Message: Sendable, Hashable {
        var destination: Destination
        var data: Request.FormData
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
    typealias Work = @Sendable (Identity, OutboxMark, @escaping Progress) async -> Outcome

    private struct Waiter: Sendable {
        let progress: Progress?
        let completion: @Sendable (Outcome) -> Void
    }

    private struct State: Sendable {
        var run = 0
        var lastWaiter = 0
        var waiters: [Int: Waiter] = [:]
        var task: Task<Outcome, Never>?
        /// Whether an outbox may have what is under way.
        var mark = OutboxMark()
        /// That of what was sent last, has not succeeded, and is in no outbox.
        var identity: Identity?
        /// How often the form had been changed when what is under way began.
        var changes = 0
        var accepted: Accepted?
    }

    /// The form as a server accepted it last.
    private struct Accepted: Sendable {
        let destination: Destination
        let changes: Int
        let reply: FormReply
    }

    private let state = Lock(State())

    /// Joins what is under way, or begins. Cancelling the task leaves at once; where nobody waits any more, the transfer
    /// is cancelled, and where an outbox may have it the error says whether it does.
    ///
    /// A form that was accepted has the reply that it got then, unless it was changed since, goes elsewhere, has the
    /// credentials of another person, or is sent by GET.
    ///
    /// - Parameter changes: how often the form had been changed when the message was made.
    /// - Throws: `NetworkError`; of kind `.badRequest` where something else is under way.
    func result(
        of message: Message,
        changes: Int,
        progress: Progress?,
        _ work: @escaping Work
    ) async throws(NetworkError) -> FormReply {
        if Task.isCancelled { throw .cancelledBeforeStart }
        return try await withCancellableToken { completion in
            switch self.join(message, changes, Waiter(progress: progress, completion: completion), work) {
            case .waiting(let id): return AnyRequestToken { self.leave(id, completion) }
            case .accepted(let reply): completion(.success(reply))
            case .otherValues: completion(.failure(.otherValues))
            }
            return nil
        }.get()
    }

    /// Forgets that the form was accepted.
    func forgetAccepted() {
        state.withLock { $0.accepted = nil }
    }

    private enum Joined {
        case waiting(Int)
        case accepted(FormReply)
        case otherValues
    }

    private func join(_ message: Message, _ changes: Int, _ waiter: Waiter, _ work: @escaping Work) -> Joined {
        state.withLock { state in
            if state.task != nil, state.identity?.message != message { return .otherValues }
            if state.task == nil, let accepted = state.accepted, accepted.changes == changes,
                accepted.destination == message.destination
            {
                return .accepted(accepted.reply)
            }
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = waiter
            if state.task == nil {
                let kept = state.identity.flatMap { $0.message == message ? $0 : nil }
                let identity = kept ?? Identity(message: message)
                state.identity = identity
                state.changes = changes
                state.run += 1
                let run = state.run
                let mark = OutboxMark()
                state.mark = mark
                state.task = Task {
                    let outcome = await work(identity, mark) { self.tell($0, of: run) }
                    self.finish(outcome, run)
                    return outcome
                }
            }
            return .waiting(state.lastWaiter)
        }
    }

    private func leave(_ id: Int, _ completion: @escaping @Sendable (Outcome) -> Void) {
        // Let go outside of the lock: what it holds may leave once more.
        let (left, task, mark) = state.withLock { state in
            let left = state.waiters.removeValue(forKey: id)
            let isLast = left != nil && state.waiters.isEmpty
            defer { if isLast { state.task = nil } }
            return (left, isLast ? state.task : nil, state.mark)
        }
        guard left != nil else { return }
        task?.cancel()
        // The outbox looks whether it is cancelled after it has set the mark.
        guard let task, mark.isTaken else { return completion(.failure(.left)) }
        Task { completion(await task.value) }
    }

    private func tell(_ progress: TransferProgress, of run: Int) {
        let told = state.withLock { $0.run == run ? Array($0.waiters.values) : [] }
        for waiter in told { waiter.progress?(progress) }
    }

    private func finish(_ outcome: Outcome, _ run: Int) {
        let waiters: [Waiter] = state.withLock { state in
            guard state.run == run else { return [] }
            // A search may be asked again.
            if case .success(let reply) = outcome, reply.isAccepted, let sent = state.identity?.message,
                sent.data.method != .get
            {
                state.accepted = Accepted(destination: sent.destination, changes: state.changes, reply: reply)
            }
            if outcome.isDone { state.identity = nil }
            // Those of a run that everybody left are those of the next.
            guard state.task != nil else { return [] }
            defer { state.waiters = [:] }
            state.task = nil
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.completion(outcome) }
    }
}

extension FormTurn.Outcome {
    /// Whether submitting the same once more is meant as another submission.
    fileprivate var isDone: Bool {
        switch self {
        case .success(let reply): reply.isAccepted
        case .failure(let error): error.isKept
        }
    }
}

extension NetworkError {
    fileprivate static let otherValues = NetworkError(
        .badRequest,
        during: .build,
        "the form is already being submitted with other values or to another destination",
        advice: "wait for that submission to end"
    )
}
