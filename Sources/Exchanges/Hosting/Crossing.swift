import BeagleNet
import BeagleNetDependencies
import BeagleNetHTTP

/// The operations that are passing through an interceptor in an exchange chain, by id, and the tasks that wait for
/// their results.
final class Crossings: Sendable {
    /// An operation that the interceptor has passed on and that waits for its result.
    final class Passage: Sendable {
        private struct State: Sendable {
            var outcome: HostedRun.Outcome?
            var continuation: CheckedContinuation<HostedRun.Outcome, Never>?
            var isOver = false
            var isForwarding = false
            var isCancelled = false
        }

        let emit: HostedRun.Emit
        private let asker: Int?
        private let isReading: Bool
        private let state = InlineLock(State())

        init(_ operation: Operation, _ emit: @escaping HostedRun.Emit) {
            self.emit = emit
            asker = operation.whoAsked
            isReading = operation.isReading
        }

        /// Returns the passages that a result belongs to.
        ///
        /// Those are the passages with the same asker, even if an exchange changed the policy, or else the passages
        /// that read from a store only if the operation does.
        static func those(of passages: [Passage], for operation: Operation) -> [Passage] {
            let own = passages.filter { $0.asker != nil && $0.asker == operation.whoAsked }
            if !own.isEmpty { return own }
            let alike = passages.filter { $0.isReading == operation.isReading }
            return alike.isEmpty ? passages : alike
        }

        /// Marks the operation as being sent down the chain.
        ///
        /// - Returns: Whether the operation must still be sent.
        func beginForwarding() -> Bool {
            state.withLock { state in
                state.isForwarding = !state.isOver
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

        /// Cancels the passage.
        ///
        /// - Returns: Whether the exchanges below must be notified now. While the operation is being sent, they must
        ///   not.
        func cancel() -> Bool {
            let isDue = state.withLock { state in
                if !state.isOver { state.isCancelled = true }
                return !state.isForwarding
            }
            finish(.failure(.hostedRunCancelled))
            return isDue
        }

        /// Resumes the waiting task with the outcome. Only the first outcome counts.
        func finish(_ outcome: HostedRun.Outcome) {
            let continuation = state.withLock { state -> CheckedContinuation<HostedRun.Outcome, Never>? in
                if state.isOver { return nil }
                state.isOver = true
                if let continuation = state.continuation.take() { return continuation }
                state.outcome = outcome
                return nil
            }
            continuation?.resume(returning: outcome)
        }

        nonisolated(nonsending) var outcome: HostedRun.Outcome {
            get async {
                await withCheckedContinuation { continuation in
                    let outcome = state.withLock { state -> HostedRun.Outcome? in
                        if state.outcome == nil { state.continuation = continuation }
                        return state.outcome
                    }
                    if let outcome { continuation.resume(returning: outcome) }
                }
            }
        }
    }

    private let passages = Lock<[String: [Passage]]>([:])

    /// The number of operations that wait for a result.
    var count: Int { passages.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    /// Runs an operation through the interceptor, and returns its last result.
    nonisolated(nonsending) func run(
        _ operation: Operation,
        _ pipeline: Pipeline,
        _ client: any GraphQLClient,
        _ ways: Fork.Ways,
        _ redactor: Redactor,
        _ clock: any Clock<Duration>,
        _ isWanted: @escaping @Sendable () -> Bool
    ) async -> OperationResult {
        let operation = operation.withoutForeignFields
        let outcome = await HostedRun.Outcome.catching { () throws(NetworkError) in
            let transfer = try operation.transfer(options: TransferOptions())
            // An origin isn't trusted just because an operation is sent to it. Credentials are for the client's own
            // origin.
            let origins = Set([client.request.url.flatMap { Origin($0) }].compactMap(\.self))
            var asked = NetworkOperation.of(
                transfer,
                kind: .init(operation.kind),
                logger: client.logger,
                redactor: redactor,
                clock: clock,
                origins: origins
            )
            asked.policy = RequestPolicy(operation.policy)
            asked.context[Crossing.self] = Crossing(
                operation: operation,
                sent: transfer.head,
                ways: ways,
                crossings: self
            )
            return try await pipeline.run(asked) { result in
                // Connection states and transfer progress aren't results.
                guard result.response != nil else { return }
                let emitted = OperationResult(
                    operation: operation,
                    hosted: HostedAnswer(.success(result), run: 0, isGraphQL: true),
                    stale: result.isStale,
                    hasNext: result.hasNext
                )
                client.inTurn { if isWanted() { ways.answer(emitted) } }
            }
        }
        var (stale, hasNext) = (false, false)
        if case .success(let result) = outcome { (stale, hasNext) = (result.isStale, result.hasNext) }
        let answer = HostedAnswer(outcome, run: 0, isGraphQL: true)
        return OperationResult(operation: operation, hosted: answer, stale: stale, hasNext: hasNext)
    }

    /// Sends an operation down the chain and waits for its outcome, unless the task is already cancelled.
    nonisolated(nonsending) func pass(
        _ operation: Operation,
        _ ways: Fork.Ways,
        _ emit: @escaping HostedRun.Emit
    ) async -> HostedRun.Outcome {
        if Task.isCancelled { return .failure(.hostedRunCancelled) }
        let passage = Passage(operation, emit)
        passages.withLock { $0[operation.id, default: []].append(passage) }
        return await withTaskCancellationHandler {
            if passage.beginForwarding() {
                ways.forward(operation)
                // A teardown in the meantime may have been sent down before the operation.
                if passage.endForwarding(), isLeft(operation.id) { ways.forward(operation.teardown) }
            }
            return await passage.outcome
        } onCancel: {
            // The interceptor has stopped waiting, unless a teardown has already ended the operation.
            let wasLast = leave(passage, operation.id)
            if passage.cancel(), wasLast { ways.forward(operation.teardown) }
        }
    }

    /// Whether no task waits for an operation.
    private func isLeft(_ id: String) -> Bool { passages.withLock { $0[id] == nil } }

    /// Passes a result to the tasks that wait for it.
    ///
    /// - Returns: Whether any task waited for it.
    func take(_ result: OperationResult) -> Bool {
        let id = result.operation.id
        let hasNext = result.hasNext ?? (result.operation.kind == .subscription)
        let isLast = result.isFailure || !hasNext && result.stale != true
        let waiting = passages.withLock { passages in
            let those = Passage.those(of: passages[id] ?? [], for: result.operation)
            if isLast {
                passages[id]?.removeAll { passage in those.contains { $0 === passage } }
                if passages[id]?.isEmpty == true { passages[id] = nil }
            }
            return those
        }
        if waiting.isEmpty { return false }
        let outcome = result.outcome(in: 0)
        for passage in waiting {
            if case .success(var given) = outcome, !isLast {
                given.hasNext = hasNext
                passage.emit(given)
            } else {
                passage.finish(outcome)
            }
        }
        return true
    }

    /// Cancels all passages of an operation.
    func teardown(_ id: String) {
        for passage in passages.withLock({ $0.removeValue(forKey: id) }) ?? [] { _ = passage.cancel() }
    }

    /// Removes a passage.
    ///
    /// - Returns: Whether it was still there, and was the last one of its id.
    private func leave(_ passage: Passage, _ id: String) -> Bool {
        passages.withLock { passages in
            guard passages[id]?.contains(where: { $0 === passage }) == true else { return false }
            passages[id]?.removeAll { $0 === passage }
            guard passages[id]?.isEmpty == true else { return false }
            passages[id] = nil
            return true
        }
    }
}

/// The exchange operation behind a pipeline operation while an interceptor handles it.
struct Crossing: NetworkOperation.ContextKey {
    static let defaultValue: Crossing? = nil

    let operation: Operation
    /// The message as the interceptor received it.
    let sent: HTTPRequest
    let ways: Fork.Ways
    let crossings: Crossings

    /// Returns the exchange operation with the interceptor's changes to its message.
    fileprivate func asked(_ changed: NetworkOperation) -> Operation {
        var asked = operation
        var (head, scoped) = (changed.transfer.head, changed.transfer.originScopedFields)
        let isMoved = Origin(of: head) != Origin(of: sent)
        if isMoved { head.headerFields.leaveBehind(sent.headerFields, asked.scopedFields, changed.redactor) }
        if head != sent { asked.request.take(head, sent) }
        if isMoved {
            asked.scope = scoped.isEmpty ? nil : FieldScope(names: scoped, origin: asked.origin)
        } else if !scoped.isSubset(of: asked.scopedFields) {
            scoped.formUnion(asked.scopedFields)
            asked.scope = FieldScope(names: scoped, permitted: asked.scope?.permitted ?? [], origin: asked.origin)
        }
        let policy = Operation.Policy(changed.policy)
        if policy != asked.policy { asked.policy = policy }
        return asked
    }
}

/// The end of an interceptor exchange's pipeline, which sends operations down the exchange chain.
struct BottomInterceptor: Interceptor {
    nonisolated(nonsending) func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard let crossing = operation.context[Crossing.self] else { return try await next(operation, emit) }
        return try await crossing.crossings.pass(crossing.asked(operation), crossing.ways, emit).get()
    }
}

/// The transport of a pipeline that never reaches its transport.
struct NoTransport: HTTPTransport {
    func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        completion(
            .failure(NetworkError(.unsupported, during: .build, "an interceptor among exchanges has no transport"))
        )
        return AnyRequestToken()
    }
}
