import BeagleNet
import BeagleNetDependencies
import BeagleNetHTTP

/// The operations that are passing through an interceptor in an exchange chain, by id, and the tasks that wait for
/// their results.
final class InterceptedOperations: Sendable {
    /// An operation that the interceptor has passed on and that waits for its result.
    final class PendingResult: Sendable {
        private struct State: Sendable {
            var isFinished = false
            var isForwarding = false
            var isCancelled = false
        }

        let emit: HostedRun.Emit
        /// The outcome for the waiting task. Only the first one counts.
        let outcome = Promise<HostedRun.Outcome>()
        private let requester: Int?
        private let isCacheOnlyQuery: Bool
        private let state = InlineLock(State())

        init(_ operation: Operation, _ emit: @escaping HostedRun.Emit) {
            self.emit = emit
            requester = operation.effectiveRequester
            isCacheOnlyQuery = operation.isCacheOnlyQuery
        }

        /// Returns the pending results that a result belongs to.
        ///
        /// Those are the pending results with the same requester, even if an exchange changed the policy, or else the
        /// pending results that read from a store only if the operation does.
        static func matching(in pendingResults: [PendingResult], for operation: Operation) -> [PendingResult] {
            let own = pendingResults.filter { $0.requester != nil && $0.requester == operation.effectiveRequester }
            if !own.isEmpty { return own }
            let samePolicy = pendingResults.filter { $0.isCacheOnlyQuery == operation.isCacheOnlyQuery }
            return samePolicy.isEmpty ? pendingResults : samePolicy
        }

        /// Marks the operation as being sent down the chain.
        ///
        /// - Returns: Whether the operation must still be sent.
        func beginForwarding() -> Bool {
            state.withLock { state in
                state.isForwarding = !state.isFinished
                return state.isForwarding
            }
        }

        /// Marks the operation as sent.
        ///
        /// - Returns: Whether it was cancelled in the meantime.
        func endForwarding() -> Bool {
            state.withLock { state in
                state.isForwarding = false
                return state.isCancelled
            }
        }

        /// Cancels the pending result.
        ///
        /// - Returns: Whether the exchanges below must be notified now. While the operation is being sent, they must
        ///   not.
        func cancel() -> Bool {
            let isDue = state.withLock { state in
                if !state.isFinished { state.isCancelled = true }
                return !state.isForwarding
            }
            finish(.failure(.hostedRunCancelled))
            return isDue
        }

        /// Ends the wait with an outcome.
        func finish(_ outcome: HostedRun.Outcome) {
            state.withLock { $0.isFinished = true }
            self.outcome.complete(outcome)
        }
    }

    private let pendingResults = Lock<[String: [PendingResult]]>([:])

    /// The number of operations that wait for a result.
    var count: Int { pendingResults.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    /// Runs an operation through the interceptor, and returns its last result.
    nonisolated(nonsending) func run(
        _ operation: Operation,
        _ pipeline: Pipeline,
        _ client: any GraphQLClient,
        _ outputs: ForwardingPublisher.Outputs,
        _ redactor: Redactor,
        _ clock: any Clock<Duration>,
        _ isActive: @escaping @Sendable () -> Bool
    ) async -> OperationResult {
        let operation = operation.withoutForeignFields
        let outcome = await HostedRun.Outcome.catching { () throws(NetworkError) in
            let transfer = try operation.transfer(options: TransferOptions())
            // An origin isn't trusted just because an operation is sent to it. Credentials are for the client's own
            // origin.
            let origins = Set([client.request.url.flatMap { Origin($0) }].compactMap(\.self))
            var pipelineOperation = NetworkOperation.of(
                transfer,
                kind: .init(operation.kind),
                logger: client.logger,
                redactor: redactor,
                clock: clock,
                origins: origins
            )
            pipelineOperation.policy = RequestPolicy(operation.policy)
            pipelineOperation.context[InterceptedOperation.self] = InterceptedOperation(
                operation: operation,
                sent: transfer.head,
                outputs: outputs,
                intercepted: self
            )
            return try await pipeline.run(pipelineOperation) { result in
                // Connection states and transfer progress aren't results.
                guard result.response != nil else { return }
                let emitted = OperationResult(
                    operation: operation,
                    hosted: PipelineOutcome(.success(result), run: 0, isGraphQL: true),
                    stale: result.isStale,
                    hasNext: result.hasNext
                )
                client.runOnQueue { if isActive() { outputs.answer(emitted) } }
            }
        }
        var (stale, hasNext) = (false, false)
        if case .success(let result) = outcome { (stale, hasNext) = (result.isStale, result.hasNext) }
        let pipelineOutcome = PipelineOutcome(outcome, run: 0, isGraphQL: true)
        return OperationResult(operation: operation, hosted: pipelineOutcome, stale: stale, hasNext: hasNext)
    }

    /// Sends an operation down the chain and waits for its outcome, unless the task is already cancelled.
    nonisolated(nonsending) func forward(
        _ operation: Operation,
        _ outputs: ForwardingPublisher.Outputs,
        _ emit: @escaping HostedRun.Emit
    ) async -> HostedRun.Outcome {
        if Task.isCancelled { return .failure(.hostedRunCancelled) }
        let pendingResult = PendingResult(operation, emit)
        pendingResults.withLock { $0[operation.id, default: []].append(pendingResult) }
        return await withTaskCancellationHandler {
            if pendingResult.beginForwarding() {
                outputs.forward(operation)
                // A teardown in the meantime may have been sent down before the operation.
                if pendingResult.endForwarding(), hasNoWaiters(operation.id) { outputs.forward(operation.teardown) }
            }
            return await pendingResult.outcome.value
        } onCancel: {
            // The interceptor has stopped waiting, unless a teardown has already ended the operation.
            let wasLast = remove(pendingResult, operation.id)
            if pendingResult.cancel(), wasLast { outputs.forward(operation.teardown) }
        }
    }

    /// Whether no task waits for an operation.
    private func hasNoWaiters(_ id: String) -> Bool { pendingResults.withLock { $0[id] == nil } }

    /// Passes a result to the tasks that wait for it.
    ///
    /// - Returns: Whether any task waited for it.
    func deliver(_ result: OperationResult) -> Bool {
        let id = result.operation.id
        let hasNext = result.hasNext ?? (result.operation.kind == .subscription)
        let isLast = result.isFailure || !hasNext && result.stale != true
        let waiting = pendingResults.withLock { pendingResults in
            let matching = PendingResult.matching(in: pendingResults[id] ?? [], for: result.operation)
            if isLast {
                pendingResults[id]?.removeAll { pendingResult in matching.contains { $0 === pendingResult } }
                if pendingResults[id]?.isEmpty == true { pendingResults[id] = nil }
            }
            return matching
        }
        if waiting.isEmpty { return false }
        let outcome = result.outcome(in: 0)
        for pendingResult in waiting {
            if case .success(var emitted) = outcome, !isLast {
                emitted.hasNext = hasNext
                pendingResult.emit(emitted)
            } else {
                pendingResult.finish(outcome)
            }
        }
        return true
    }

    /// Cancels all pending results of an operation.
    func teardown(_ id: String) {
        for pendingResult in pendingResults.withLock({ $0.removeValue(forKey: id) }) ?? [] {
            _ = pendingResult.cancel()
        }
    }

    /// Removes a pending result.
    ///
    /// - Returns: Whether it was still there, and was the last one of its id.
    private func remove(_ pendingResult: PendingResult, _ id: String) -> Bool {
        pendingResults.withLock { pendingResults in
            guard pendingResults[id]?.contains(where: { $0 === pendingResult }) == true else { return false }
            pendingResults[id]?.removeAll { $0 === pendingResult }
            guard pendingResults[id]?.isEmpty == true else { return false }
            pendingResults[id] = nil
            return true
        }
    }
}
