import BeagleNetHTTP
import BeagleNetRequestBuilder

/// A gate that allows one submission of a form at a time; callers that submit it in the meantime join it.
final class FormSubmissionGate: Sendable {
    /// The URL of a form, with the query and headers to send.
    struct Destination: Sendable, Hashable {
        var url: URL
        var query: [URLQueryItem]
        var headers: [String: String]
        /// The user whose credentials are sent, because a reply is only for that user.
        var credentialOwner: Int
    }

    /// The data of a submission and its destination.
    struct Message: Sendable, Hashable {
        var destination: Destination
        var data: Request.FormData
    }

    /// The parts of a request that stay the same when it is sent again.
    struct Identity: Sendable {
        let message: Message
        /// A random string in the format that the header requires (RFC 9651, 3.3.3).
        let idempotencyKey = "\"\(UUID().uuidString.lowercased())\""
        /// Kept, because a server may compare the bytes sent with one key.
        let boundary = MultipartForm.randomBoundary()
    }

    typealias Outcome = Result<Form.Reply, NetworkError>
    typealias Progress = @Sendable (TransferRequest.Progress) -> Void
    /// A function that submits the form and reports its progress.
    typealias Work = @Sendable (Identity, OutboxWriteFlag, @escaping Progress) async -> Outcome

    private struct Waiter: Sendable {
        let progress: Progress?
        let outcome = Promise<Outcome>()
    }

    private struct State: Sendable {
        var run = 0
        var lastWaiter = 0
        var waiters: [Int: Waiter] = [:]
        var task: Task<Outcome, Never>?
        /// A mark that tells whether an outbox may have the submission in flight.
        var writeFlag = OutboxWriteFlag()
        /// The identity of the last request, if it hasn't succeeded and isn't in an outbox.
        var identity: Identity?
        /// The number of changes to the form when the current submission began.
        var changes = 0
        var accepted: Accepted?
    }

    /// The last submission that a server accepted.
    private struct Accepted: Sendable {
        let destination: Destination
        let changes: Int
        let reply: Form.Reply
    }

    private let state = Lock(State())

    /// Joins the submission in flight, whatever its values, or starts one.
    ///
    /// If the task is cancelled, it leaves immediately. When the last caller leaves, the transfer is cancelled; if an
    /// outbox may have the form, the error says whether it does.
    ///
    /// A form that was accepted returns that reply again, unless it was changed since, has another destination, has the
    /// credentials of another user, or is sent by GET.
    ///
    /// - Parameter changes: The number of changes to the form when the request was made.
    /// - Throws: `NetworkError`; of kind `.badRequest` if a submission to another destination is in flight.
    func result(
        of message: Message,
        changes: Int,
        progress: Progress?,
        _ work: @escaping Work
    ) async throws(NetworkError) -> Form.Reply {
        if Task.isCancelled { throw .cancelledBeforeStart }
        let waiter = Waiter(progress: progress)
        switch join(message, changes, waiter, work) {
        case .accepted(let reply): return reply
        case .otherDestination: throw .otherDestination
        case .waiting(let id):
            return try await withTaskCancellationHandler {
                await waiter.outcome.value
            } onCancel: {
                leave(id)
            }.get()
        }
    }

    /// Forgets that the form was accepted.
    func forgetAccepted() {
        state.withLock { $0.accepted = nil }
    }

    private enum Joined {
        case waiting(Int)
        case accepted(Form.Reply)
        case otherDestination
    }

    private func join(_ message: Message, _ changes: Int, _ waiter: Waiter, _ work: @escaping Work) -> Joined {
        state.withLock { state in
            // A caller with other values joins too: its reply says that there are edits that weren't sent.
            if state.task != nil, state.identity?.message.destination != message.destination {
                return .otherDestination
            }
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
                let writeFlag = OutboxWriteFlag()
                state.writeFlag = writeFlag
                state.task = Task {
                    let outcome = await work(identity, writeFlag) { self.report($0, of: run) }
                    self.finish(outcome, run)
                    return outcome
                }
            }
            return .waiting(state.lastWaiter)
        }
    }

    private func leave(_ id: Int) {
        // Released outside of the lock, because releasing a waiter may call this again.
        let (left, task, writeFlag) = state.withLock { state in
            let left = state.waiters.removeValue(forKey: id)
            let isLast = left != nil && state.waiters.isEmpty
            defer { if isLast { state.task = nil } }
            return (left, isLast ? state.task : nil, state.writeFlag)
        }
        guard let left else { return }
        task?.cancel()
        // The outbox checks for cancellation after it has set the mark.
        if let task, writeFlag.isSet {
            Task { left.outcome.complete(await task.value) }
        } else {
            left.outcome.complete(.failure(.left))
        }
    }

    private func report(_ progress: TransferRequest.Progress, of run: Int) {
        let told = state.withLock { $0.run == run ? Array($0.waiters.values) : [] }
        for waiter in told { waiter.progress?(progress) }
    }

    private func finish(_ outcome: Outcome, _ run: Int) {
        let waiters: [Waiter] = state.withLock { state in
            guard state.run == run else { return [] }
            // A search may be repeated.
            if case .success(let reply) = outcome, reply.isAccepted, let sent = state.identity?.message,
                sent.data.method != .get
            {
                state.accepted = Accepted(destination: sent.destination, changes: state.changes, reply: reply)
            }
            if outcome.isDone { state.identity = nil }
            // The waiters of a run that all callers left belong to the next run.
            guard state.task != nil else { return [] }
            defer { state.waiters = [:] }
            state.task = nil
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.outcome.complete(outcome) }
    }
}

extension FormSubmissionGate.Outcome {
    /// Whether submitting the same values again counts as a new submission.
    fileprivate var isDone: Bool {
        switch self {
        case .success(let reply): reply.isAccepted
        case .failure(let error): error.isStoredInOutbox
        }
    }
}

extension NetworkError {
    fileprivate static let otherDestination = NetworkError(
        .badRequest,
        during: .build,
        "the form is already being submitted to another destination",
        advice: "wait for that submission to end"
    )
}
