import BeagleNetCurl
import BeagleNetHTTP

/// The top of the pipeline: knows what is under way, so that operations which ask the same share one run, whoever comes
/// late hears what there is, and whoever leaves last ends it.
final class Hub: Sendable {
    private let active = Lock<[Subject: ActiveOperation]>([:])

    /// What one run can serve: what is asked, how it is to run, and whether a store alone is asked.
    struct Subject: Hashable, Sendable {
        private let question: NetworkOperation.Question
        private let deadline: Duration?
        private let reportsProgress: Bool
        fileprivate let isForStoreAlone: Bool

        /// nil where the operation is not shared.
        fileprivate init?(_ operation: NetworkOperation) {
            guard let question = operation.question else { return nil }
            self.question = question
            deadline = operation.deadline
            reportsProgress = operation.reportsProgress
            isForStoreAlone = operation.isForStoreAlone
        }

        /// The question alone: it is as good a hash as all.
        func hash(into hasher: inout Hasher) {
            hasher.combine(question)
        }
    }

    /// Somebody's share in an operation.
    struct Share: Sendable {
        fileprivate let active: ActiveOperation
        fileprivate let id: Int

        /// Ends it; nothing is heard afterwards. The last one to leave cancels the run, down to the transport, before
        /// this returns.
        ///
        /// - Returns: whether there was something to end.
        @discardableResult
        func leave() -> Bool { active.leave(id) }

        /// Ends it for one who watches, who hears that it was cancelled, and `.end`. The last one's run is cancelled before
        /// this returns.
        func close() { active.close(id) }
    }

    /// Operations under way or watched, those apart that are not shared.
    var count: Int { active.withLock { $0.count } }

    /// Who waits for them or watches them.
    var subscribers: Int { active.withLock { Array($0.values) }.reduce(0) { $0 + $1.subscribers } }

    /// Joins the operation of the same subject, or begins one. What can be said without waiting is said before this
    /// returns.
    ///
    /// - Parameters:
    ///   - operation: what to ask, with its question.
    ///   - pipeline: takes it to its results.
    ///   - isOneShot: whether the subscriber leaves with the first settled result or failure.
    ///   - receive: hears what comes.
    func subscribe(
        to operation: NetworkOperation,
        _ pipeline: Pipeline,
        isOneShot: Bool,
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> Share {
        while true {
            let active = joined(operation, pipeline)
            if let id = active.subscribe(operation, pipeline, isOneShot: isOneShot, receive) {
                return Share(active: active, id: id)
            }
            remove(active)
        }
    }

    /// Whether an operation runs by itself because a stored response will do for it, although others wait for the network.
    nonisolated(nonsending) func isAlone(_ operation: NetworkOperation, _ pipeline: Pipeline) async -> Bool {
        if operation.policy == .cacheOnly { return true }
        guard let subject = Subject(operation), active.withLock({ $0[subject] })?.isRunning == true else {
            return false
        }
        return await pipeline.hasStoredResult(for: operation)
    }

    private func joined(_ operation: NetworkOperation, _ pipeline: Pipeline) -> ActiveOperation {
        guard let subject = Subject(operation) else { return ActiveOperation(operation, pipeline, self) }
        return active.withLock { active in
            // Found once, and begun where it is found.
            { (joined: inout ActiveOperation?) in
                if let joined { return joined }
                let begun = ActiveOperation(operation, pipeline, self, subject)
                joined = begun
                return begun
            }(&active[subject])
        }
    }

    /// Forgets an operation that is over; another of its subject may have been begun.
    func remove(_ ended: ActiveOperation) {
        guard let subject = ended.subject else { return }
        active.withLock { active in
            guard let index = active.index(forKey: subject), active.values[index] === ended else { return }
            active.remove(at: index)
        }
    }

    /// Ends what is watched, and with `cancelling` everything.
    func end(cancelling: Bool) {
        for operation in active.withLock({ Array($0.values) }) { operation.end(cancelling: cancelling) }
    }

    /// Runs again what is watched; of what wants a stored answer alone the store is asked, whatever the policy.
    ///
    /// - Parameters:
    ///   - policy: whether stored answers will do.
    ///   - afterRun: whether what runs now is too old, so that it is run once more afterwards.
    ///   - isMeant: tells what to run; it sees the policy of those who watch.
    func refetch(
        _ policy: RequestPolicy,
        afterRun: Bool = false,
        where isMeant: (NetworkOperation) -> Bool = { _ in true }
    ) {
        let watched = active.withLock { Array($0.values) }
        for operation in watched where isMeant(operation.operation) {
            let isForStoreAlone = operation.subject?.isForStoreAlone ?? false
            operation.refetch(isForStoreAlone ? .cacheOnly : policy, afterRun: afterRun)
        }
    }
}

// MARK: - The first settled result

extension Hub {
    /// Waits for the settled result. Cancelling the task leaves the operation at once.
    ///
    /// - Parameters:
    ///   - emit: hears what comes before.
    func result(
        of operation: NetworkOperation,
        _ pipeline: Pipeline,
        _ emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        if Task.isCancelled { throw .cancelledBeforeStart }
        let waiter = Waiter(emit)
        let share = subscribe(to: operation, pipeline, isOneShot: true) { waiter.hear($0) }
        if let outcome = waiter.outcome { return try outcome.get() }
        let actor = #isolation
        await suspend {
            waiter.wait(WaitingTask($0, on: actor))
        } onCancel: {
            if share.leave() { waiter.give(.failure(.left)) }
        }
        return try (waiter.outcome ?? .failure(.endedEarly)).get()
    }

    /// Asks for the settled result.
    ///
    /// - Parameters:
    ///   - emit: hears what comes before.
    ///   - completion: gets the result, or the failure. It may be called more than once and hears only the first time;
    ///     not at all after its share was left.
    func ask(
        _ operation: NetworkOperation,
        _ pipeline: Pipeline,
        _ emit: @escaping Interceptor.Emit,
        _ completion: @escaping @Sendable (Result<NetworkOperation.Result, NetworkError>) -> Void
    ) -> Share {
        subscribe(to: operation, pipeline, isOneShot: true) { event in
            if let outcome = event.outcome { completion(outcome) } else { event.result.map(emit) }
        }
    }

    /// Somebody who waits for the settled result: one object for all that it takes.
    private final class Waiter: Sendable {
        typealias Outcome = Result<NetworkOperation.Result, NetworkError>

        private enum State {
            case empty, waiting(WaitingTask), given(Outcome)
        }

        private let state = InlineLock(State.empty)
        private let emit: Interceptor.Emit

        init(_ emit: @escaping Interceptor.Emit) {
            self.emit = emit
        }

        /// What it was given, if it was.
        var outcome: Outcome? {
            state.withLock { state in
                if case .given(let outcome) = state { return outcome }
                return nil
            }
        }

        func hear(_ event: NetworkOperation.Event) {
            if let outcome = event.outcome { give(outcome) } else { event.result.map(emit) }
        }

        /// Takes an outcome, the first that it is given.
        func give(_ outcome: Outcome) {
            let task: WaitingTask? = state.withLock { state in
                if case .given = state { return nil }
                defer { state = .given(outcome) }
                if case .waiting(let task) = state { return task }
                return nil
            }
            task?.resume()
        }

        /// Resumes when there is an outcome.
        func wait(_ task: WaitingTask) {
            let isGiven = state.withLock { state in
                if case .given = state { return true }
                state = .waiting(task)
                return false
            }
            if isGiven { task.continuation.resume() }
        }
    }
}

extension NetworkOperation.Event {
    /// What ends the wait for one answer; nil for what comes before that.
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
    /// What an operation was doing when somebody left is not known to the hub.
    static let left: NetworkError = {
        var error = NetworkError(.cancelled, during: .queue, "the request was cancelled")
        error.mayHaveReachedServer = true
        return error
    }()
    fileprivate static let endedEarly = NetworkError(
        .other,
        during: .response,
        "the operation ended without a final result"
    )
}
