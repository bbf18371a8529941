import BeagleNet
import BeagleNetDependencies
import BeagleNetHTTP

/// Operations that cross an interceptor on their way down a ladder, by id: who waits for what comes up again.
final class Crossings: Sendable {
    /// One that has come out below the interceptor, and whose result is waited for.
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

        /// Those whose result it is: who asked, whatever exchanges made of the policy; else those who asked in the same way.
        static func those(of passages: [Passage], for operation: Operation) -> [Passage] {
            let own = passages.filter { $0.asker != nil && $0.asker == operation.whoAsked }
            if !own.isEmpty { return own }
            let alike = passages.filter { $0.isReading == operation.isReading }
            return alike.isEmpty ? passages : alike
        }

        /// The operation is about to be sent down.
        ///
        /// - Returns: whether it is still to be.
        func beginForwarding() -> Bool {
            state.withLock { state in
                state.isForwarding = !state.isOver
                return state.isForwarding
            }
        }

        /// The operation was sent down.
        ///
        /// - Returns: whether it was cancelled meanwhile.
        func endForwarding() -> Bool {
            state.withLock { state in
                state.isForwarding = false
                return state.isCancelled
            }
        }

        /// It is not waited for any more.
        ///
        /// - Returns: whether what is below is to be told: not yet while the operation is being sent down.
        func cancel() -> Bool {
            let isDue = state.withLock { state in
                if !state.isOver { state.isCancelled = true }
                return !state.isForwarding
            }
            finish(.failure(.hostedRunCancelled))
            return isDue
        }

        /// Gives the outcome to who waits; the first counts.
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

    /// How many wait for what comes up.
    var count: Int { passages.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    /// Takes an operation through the interceptor, and gives its last result.
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
            // What an operation asks for is not trusted for that alone: credentials are for the client's own.
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
                // How a connection is, or a transfer, is no answer.
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

    /// Waits for what comes of an operation that is sent down now, unless it was cancelled before.
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
                // A teardown that came meanwhile may have gone down before it.
                if passage.endForwarding(), isLeft(operation.id) { ways.forward(operation.teardown) }
            }
            return await passage.outcome
        } onCancel: {
            // The interceptor did not want to wait any longer, unless a teardown was before it.
            let wasLast = leave(passage, operation.id)
            if passage.cancel(), wasLast { ways.forward(operation.teardown) }
        }
    }

    /// Whether nobody waits for an operation.
    private func isLeft(_ id: String) -> Bool { passages.withLock { $0[id] == nil } }

    /// Gives a result to those who wait for it.
    ///
    /// - Returns: whether there were any.
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

    /// Nobody waits for an operation any more.
    func teardown(_ id: String) {
        for passage in passages.withLock({ $0.removeValue(forKey: id) }) ?? [] { _ = passage.cancel() }
    }

    /// Has one wait no more.
    ///
    /// - Returns: whether it did, and was the last of its id.
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

/// Which operation of the ladder an operation of the pipeline is, between an interceptor and what is below it.
struct Crossing: NetworkOperation.ContextKey {
    static let defaultValue: Crossing? = nil

    let operation: Operation
    /// The message as the interceptor was given it.
    let sent: HTTPRequest
    let ways: Fork.Ways
    let crossings: Crossings

    /// The ladder's operation with what the interceptor changed of its message.
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

/// What is below an interceptor that stands in a ladder: the ladder.
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

/// What a pipeline has for a transport that never comes to it.
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
