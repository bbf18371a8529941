import BeagleNetCurl
import BeagleNetHTTP

/// The entry point of the pipeline: coalesces identical operations.
///
/// Operations with the same key share one run. A late subscriber receives the latest result, and the run ends when
/// its last subscriber leaves.
final class RequestCoalescer: Sendable {
    private let active = Lock<[CoalescingKey: ActiveOperation]>([:])

    /// The properties that operations must have in common to share a run: compared content, deadline, progress
    /// reporting, and whether only the store is read.
    struct CoalescingKey: Hashable, Sendable {
        private let comparedContent: NetworkOperation.ComparedContent
        private let deadline: Duration?
        private let reportsProgress: Bool
        fileprivate let readsOnlyStore: Bool

        /// Creates the key of an operation; `nil` if the operation isn't shared.
        fileprivate init?(_ operation: NetworkOperation) {
            guard let comparedContent = operation.comparedContent else { return nil }
            self.comparedContent = comparedContent
            deadline = operation.deadline
            reportsProgress = operation.reportsProgress
            readsOnlyStore = operation.readsOnlyStore
        }

        /// Hashes the compared content only, which distinguishes keys as well as all properties would.
        func hash(into hasher: inout Hasher) {
            hasher.combine(comparedContent)
        }
    }

    /// A subscriber's handle to an operation.
    struct Subscription: Sendable {
        fileprivate let active: ActiveOperation
        fileprivate let id: Int
        /// The control of the operation's priority; `nil` if the operation isn't shared.
        let priorityControl: Priority.Control?

        /// Leaves the operation; the subscriber receives nothing afterwards.
        ///
        /// When the last subscriber leaves, the run is cancelled, down to the transport, before this returns.
        ///
        /// - Returns: Whether the subscriber was still subscribed.
        @discardableResult
        func leave() -> Bool { active.leave(id) }

        /// Ends the operation for a watching subscriber, which receives a cancellation error and then `.end`.
        ///
        /// If it is the last subscriber, the run is cancelled before this returns.
        func close() { active.close(id) }
    }

    /// The number of shared operations that are in flight or watched.
    var count: Int { active.withLock { $0.count } }

    /// The number of subscribers of these operations.
    var subscribers: Int { active.withLock { Array($0.values) }.reduce(0) { $0 + $1.subscribers } }

    /// Joins the operation with the same key, or starts one.
    ///
    /// Results that are available without waiting are delivered before this returns.
    ///
    /// - Parameters:
    ///   - operation: The operation, with its compared content.
    ///   - pipeline: The pipeline that performs it.
    ///   - isOneShot: Whether the subscriber leaves with the first settled result or failure.
    ///   - receive: Receives the events.
    func subscribe(
        to operation: NetworkOperation,
        _ pipeline: Pipeline,
        isOneShot: Bool,
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> Subscription {
        var operation = operation
        if operation.comparedContent != nil, operation.transfer.priorityControl == nil {
            // Another subscriber may raise the priority.
            operation.transfer.priorityControl = Priority.Control(operation.transfer.options.priority)
        }
        while true {
            let active = joined(operation, pipeline)
            if let id = active.subscribe(operation, pipeline, isOneShot: isOneShot, receive) {
                return Subscription(active: active, id: id, priorityControl: operation.transfer.priorityControl)
            }
            remove(active)
        }
    }

    /// Whether an operation runs by itself because a stored response satisfies it, even if a run of the same key is
    /// in flight.
    nonisolated(nonsending) func shouldRunSeparately(_ operation: NetworkOperation, _ pipeline: Pipeline) async -> Bool
    {
        if operation.policy == .cacheOnly { return true }
        guard let coalescingKey = CoalescingKey(operation), active.withLock({ $0[coalescingKey] })?.isRunning == true
        else {
            return false
        }
        return await pipeline.hasStoredResult(for: operation)
    }

    private func joined(_ operation: NetworkOperation, _ pipeline: Pipeline) -> ActiveOperation {
        guard let coalescingKey = CoalescingKey(operation) else { return ActiveOperation(operation, pipeline, self) }
        return active.withLock { active in
            // One lookup finds the entry and inserts a new one.
            { (joined: inout ActiveOperation?) in
                if let joined { return joined }
                let begun = ActiveOperation(operation, pipeline, self, coalescingKey)
                joined = begun
                return begun
            }(&active[coalescingKey])
        }
    }

    /// Removes an operation that has ended, unless another one with its key has replaced it.
    func remove(_ ended: ActiveOperation) {
        guard let coalescingKey = ended.coalescingKey else { return }
        active.withLock { active in
            guard let index = active.index(forKey: coalescingKey), active.values[index] === ended else { return }
            active.remove(at: index)
        }
    }

    /// Ends all watched operations; if `cancelling` is true, cancels the others too.
    func end(cancelling: Bool) {
        for operation in active.withLock({ Array($0.values) }) { operation.end(cancelling: cancelling) }
    }

    /// Reruns watched operations.
    ///
    /// Operations that read only the store do so again, whatever the policy.
    ///
    /// - Parameters:
    ///   - policy: Whether stored responses are used.
    ///   - afterRun: Whether an operation that is already running is run once more afterwards, because its result would
    ///     be outdated.
    ///   - isIncluded: Returns whether to rerun an operation, which has the policy of its watching subscribers.
    func refetch(
        _ policy: RequestPolicy,
        afterRun: Bool = false,
        where isIncluded: (NetworkOperation) -> Bool = { _ in true }
    ) {
        let watched = active.withLock { Array($0.values) }
        for operation in watched where isIncluded(operation.operation) {
            let readsOnlyStore = operation.coalescingKey?.readsOnlyStore ?? false
            operation.refetch(readsOnlyStore ? .cacheOnly : policy, afterRun: afterRun)
        }
    }
}

// MARK: - The first settled result

extension RequestCoalescer {
    /// Waits for the settled result.
    ///
    /// If the task is cancelled, it leaves the operation immediately.
    ///
    /// - Parameters:
    ///   - emit: Receives earlier results.
    func result(
        of operation: NetworkOperation,
        _ pipeline: Pipeline,
        _ emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        if Task.isCancelled { throw .cancelledBeforeStart }
        let waiter = Waiter(emit)
        let share = subscribe(to: operation, pipeline, isOneShot: true) { waiter.receive($0) }
        if !waiter.isCompleted {
            let actor = #isolation
            await suspend {
                waiter.wait(WaitingTask($0, on: actor))
            } onCancel: {
                if share.leave() { waiter.complete(.failure(.left)) }
            }
        }
        return try waiter.takeOutcome().get()
    }

    /// Requests the settled result.
    ///
    /// - Parameters:
    ///   - emit: Receives earlier results.
    ///   - completion: Receives the result or the error. It may be called more than once and must ignore all calls but
    ///     the first. It isn't called after the subscriber has left.
    func requestResult(
        _ operation: NetworkOperation,
        _ pipeline: Pipeline,
        _ emit: @escaping Interceptor.Emit,
        _ completion: @escaping @Sendable (Result<NetworkOperation.Result, NetworkError>) -> Void
    ) -> Subscription {
        subscribe(to: operation, pipeline, isOneShot: true) { event in
            if let outcome = event.outcome { completion(outcome) } else { event.result.map(emit) }
        }
    }

    /// A task's wait for the settled result, with all its state in one object.
    ///
    /// Not a `Promise`, because a loop resumes all tasks of a turn together.
    private final class Waiter: Sendable {
        typealias Outcome = Result<NetworkOperation.Result, NetworkError>

        private enum State {
            case empty, waiting(WaitingTask), completed(Outcome)
        }

        private let state = InlineLock(State.empty)
        private let emit: Interceptor.Emit

        init(_ emit: @escaping Interceptor.Emit) {
            self.emit = emit
        }

        var isCompleted: Bool {
            state.withLock { state in if case .completed = state { true } else { false } }
        }

        /// Returns the outcome. Call it once, after the wait.
        func takeOutcome() -> Outcome {
            state.withLock { state in
                defer { state = .empty }
                if case .completed(let outcome) = state { return outcome }
                return .failure(.endedEarly)
            }
        }

        func receive(_ event: NetworkOperation.Event) {
            if let outcome = event.outcome { complete(outcome) } else { event.result.map(emit) }
        }

        /// Stores an outcome and resumes the task.
        ///
        /// Ignores all but the first outcome.
        func complete(_ outcome: Outcome) {
            let task: WaitingTask? = state.withLock { state in
                if case .completed = state { return nil }
                defer { state = .completed(outcome) }
                if case .waiting(let task) = state { return task }
                return nil
            }
            task?.resume()
        }

        /// Resumes the task as soon as there is an outcome.
        func wait(_ task: WaitingTask) {
            let isCompleted = state.withLock { state in
                if case .completed = state { return true }
                state = .waiting(task)
                return false
            }
            if isCompleted { task.continuation.resume() }
        }
    }
}

extension NetworkOperation.Event {
    /// The outcome for a subscriber that waits for one result, or `nil` if the event is an earlier one.
    fileprivate var outcome: Result<NetworkOperation.Result, NetworkError>? {
        switch self {
        case .result(let result): result.isSettled || result.isLast ? .success(result) : nil
        case .failure(let error): .failure(error)
        case .end: .failure(.endedEarly)
        }
    }

    fileprivate var result: NetworkOperation.Result? {
        if case .result(let result) = self { return result }
        return nil
    }
}

extension NetworkError {
    /// The error for a subscriber that left.
    ///
    /// The coalescer doesn't know how far the operation got, so the server may have acted on it.
    static let left: NetworkError = {
        var error = NetworkError.cancelled(during: .queue)
        error.mayHaveReachedServer = true
        return error
    }()
    fileprivate static let endedEarly = NetworkError(
        .other,
        during: .response,
        "the operation ended without a final result"
    )
}
