import BeagleNetDependencies
import BeagleNetHTTP

extension Pipeline {
    /// An operation that was started without a task.
    enum Started: Sendable {
        /// The operation has already ended.
        case ended(Outcome)
        /// The operation is in flight; the handle cancels it.
        case running(any RequestToken)
    }

    /// Takes an operation from the first interceptor to its outcome.
    ///
    /// Creates a task only if an interceptor must wait.
    ///
    /// - Parameters:
    ///   - operation: The operation to perform.
    ///   - emit: Receives earlier results.
    ///   - completion: Receives the outcome, once, unless the outcome is returned. It is never called from inside this
    ///     call.
    func start(
        _ operation: NetworkOperation,
        _ emit: @escaping Interceptor.Emit,
        _ completion: @escaping @Sendable (Outcome) -> Void
    ) -> Started {
        var pass = PipelinePass(operation, emit, isInTask: false)
        guard operation.revision == nil else {
            let run = PipelineRun(self, pass, completion)
            run.work(startingHere: true) { [self] in
                await .catching { () throws(NetworkError) in try await self.run(operation, emit) }
            }
            return run.started()
        }
        let stop = descend(&pass, from: 0)
        if case .ended(var outcome) = stop {
            guard let waiting = ascend(&outcome, pass, from: pass.observations.count) else {
                return .ended(outcome)
            }
            let run = PipelineRun(self, pass, completion)
            run.work(startingHere: true) { [self, pass, outcome] in
                await self.outcome(of: pass, resumingAt: waiting, after: outcome)
            }
            return run.started()
        }
        let run = PipelineRun(self, pass, completion)
        run.start(pass, after: stop)
        return run.started()
    }
}

/// A run of an operation for a caller without a task: the handle that cancels it.
private final class PipelineRun: RequestToken {
    typealias Outcome = Pipeline.Outcome

    /// A wrapper for a closure: a bare one in a generic container would be wrapped again each time it is read.
    private struct Completion: Sendable {
        let call: @Sendable (Outcome) -> Void
    }

    private struct State: Sendable {
        // Both are released when the run ends, so that an app that keeps the handle keeps neither the request's body,
        // which the transfer holds, nor the objects that the closure holds.
        /// The caller's completion.
        var completion: Completion?
        /// The handle of the transfer or task in flight.
        var token: (any RequestToken)?
        var isOver = false
        var isCancelled = false
        /// Whether `start` hasn't returned yet; an outcome is then stored in `early`.
        var isStarting = true
        var early: Outcome?

        /// Ends the run.
        ///
        /// - Returns: The objects to release outside of the lock.
        mutating func end() -> Ended {
            defer { (completion, token, isOver) = (nil, nil, true) }
            return Ended(completion: completion, token: token)
        }
    }

    private struct Ended: Sendable {
        let completion: Completion?
        let token: (any RequestToken)?
    }

    private let pipeline: Pipeline
    private let priorityControl: Priority.Control?
    /// The caller's scope, for a task that is created on the transport's thread.
    private let scope = Beagle.scope
    private let fetch = CredentialFetch.running
    private let state: InlineLock<State>

    init(_ pipeline: Pipeline, _ pass: PipelinePass, _ completion: @escaping @Sendable (Outcome) -> Void) {
        self.pipeline = pipeline
        priorityControl = pass.operation.transfer.priorityControl
        state = InlineLock(State(completion: Completion(call: completion)))
    }

    func started() -> Pipeline.Started {
        let (early, ended): (Outcome?, Ended?) = state.withLock { state in
            state.isStarting = false
            guard let early = state.early else { return (nil, nil) }
            state.early = nil
            return (early, state.end())
        }
        return withExtendedLifetime(ended) { early.map { .ended($0) } ?? .running(self) }
    }

    func start(_ pass: PipelinePass, after stop: Pipeline.Stop) {
        if case .transport = stop, pipeline.sendsWithoutTask(pass.operation) {
            do throws(NetworkError) {
                let token = try pipeline.send(pass) { [pass] in self.receive(response: $0, pass) }
                fill(token, isFirst: true)
            } catch {
                receive(.failure(error), pass)
            }
            return
        }
        work(startingHere: true) { [pipeline, pass] in await pipeline.outcome(of: pass, after: stop) }
    }

    private func receive(response: Result<TransferResponse, NetworkError>, _ pass: PipelinePass) {
        switch response {
        case .success(let response): receive(.success(.of(response, isStream: false)), pass)
        case .failure(let error):
            receive(.failure(pass.operation.deadlineTimer?.received(error) ?? error), pass)
        }
    }

    /// Takes the message's outcome through the observations.
    private func receive(_ outcome: Outcome, _ pass: PipelinePass) {
        var (outcome, position) = (outcome, pass.observations.count)
        while let waiting = pipeline.ascend(&outcome, pass, from: position) {
            guard state.withLock({ $0.isCancelled }) else {
                return work(startingHere: false) { [pipeline, pass, outcome] in
                    await pipeline.outcome(of: pass, resumingAt: waiting, after: outcome)
                }
            }
            // A cancelled operation isn't retried.
            pass.observations[waiting].observation.didEnd(&outcome, of: pass.operation)
            position = waiting
        }
        finish(outcome)
    }

    /// Continues in a task.
    ///
    /// - Parameter startingHere: Whether the task may run on this thread up to its first wait.
    func work(startingHere: Bool, _ body: @escaping @Sendable () async -> Outcome) {
        let task =
            startingHere
            ? Task.starting(on: pipeline.executor) { self.finish(await body()) }
            : scope.run {
                CredentialFetch.begin(fetch) {
                    Task(executorPreference: pipeline.executor) { self.finish(await body()) }
                }
            }
        fill(AnyRequestToken(task), isFirst: startingHere)
    }

    private func finish(_ outcome: Outcome) {
        let ended: Ended? = state.withLock { state in
            if state.isStarting {
                state.early = outcome
                return nil
            }
            return state.end()
        }
        ended?.completion?.call(outcome)
    }

    /// Stores the handle, or cancels it if the run is cancelled.
    ///
    /// - Parameter isFirst: Whether a handle that was stored earlier has priority.
    private func fill(_ token: any RequestToken, isFirst: Bool) {
        let isCancelled = state.withLock { state in
            if state.isCancelled { return true }
            if !state.isOver, !isFirst || state.token == nil { state.token = token }
            return false
        }
        if isCancelled { token.cancel() }
    }

    func cancel() {
        let token: (any RequestToken)? = state.withLock { state in
            state.isCancelled = true
            defer { state.token = nil }
            return state.token
        }
        token?.cancel()
    }

    func raise(to priority: Priority) {
        if let priorityControl { return priorityControl.raise(to: priority) }
        state.withLock { $0.token }?.raise(to: priority)
    }
}
