import BeagleNetHTTP

/// The top of the pipeline: knows what is under way, so that operations which ask the same share one run, whoever comes
/// late hears what there is, and whoever leaves last ends it.
final class Hub: Sendable {
    private let active = Lock<[NetworkOperation.Key: ActiveOperation]>([:])

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
    }

    /// Operations under way or watched, those apart that are not shared.
    var count: Int { active.withLock { $0.count } }

    /// Who waits for them or watches them.
    var subscribers: Int { active.withLock { Array($0.values) }.reduce(0) { $0 + $1.subscribers } }

    /// Joins the operation that asks the same, or begins one. What can be said without waiting is said before this
    /// returns.
    ///
    /// - Parameters:
    ///   - operation: what to ask, with its key.
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

    /// Whether an operation that prefers the store waits for nobody else's run: it wants nothing else, or has its answer
    /// there while others wait for the network.
    nonisolated(nonsending) func isAlone(_ operation: NetworkOperation, _ pipeline: Pipeline) async -> Bool {
        if operation.policy == .cacheOnly { return true }
        guard let key = operation.key, active.withLock({ $0[key] })?.isRunning == true else { return false }
        return await pipeline.hasAnswer(for: operation)
    }

    private func joined(_ operation: NetworkOperation, _ pipeline: Pipeline) -> ActiveOperation {
        guard let key = operation.key else { return ActiveOperation(operation, pipeline, self) }
        return active.withLock { active in
            if let joined = active[key] { return joined }
            let begun = ActiveOperation(operation, pipeline, self, key)
            active[key] = begun
            return begun
        }
    }

    /// Forgets an operation that is over; another of its key may have been begun.
    func remove(_ ended: ActiveOperation) {
        guard let key = ended.key else { return }
        active.withLock { active in
            if active[key] === ended { active[key] = nil }
        }
    }

    /// Ends what is watched, and with `cancelling` everything.
    func end(cancelling: Bool) {
        for operation in active.withLock({ Array($0.values) }) { operation.end(cancelling: cancelling) }
    }

    /// Runs again what is watched.
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
        for operation in watched where isMeant(operation.operation) { operation.refetch(policy, afterRun: afterRun) }
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
        return try await withCancellableToken { completion in
            Token(share: self.ask(operation, pipeline, emit, completion), completion: completion)
        }.get()
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
            switch event {
            case .result(let result) where result.isSettled || result.isLast: completion(.success(result))
            case .result(let result): emit(result)
            case .failure(let error): completion(.failure(error))
            case .end: completion(.failure(.endedEarly))
            }
        }
    }

    private struct Token: RequestToken {
        let share: Share
        let completion: @Sendable (Result<NetworkOperation.Result, NetworkError>) -> Void

        func cancel() {
            if share.leave() { completion(.failure(.left)) }
        }
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
        "the operation ended without a settled result"
    )
}
