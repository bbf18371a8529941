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
        var stop = Stop.revision
        if operation.isOneMessage || operation.revision == nil { stop = descend(&pass, from: 0) }
        if case .ended(var outcome) = stop {
            guard let waiting = ascend(&outcome, pass, from: pass.observations.count) else { return .ended(outcome) }
            stop = .observation(waiting, outcome)
        }
        let priorityControl = pass.operation.transfer.priorityControl
        if case .transport = stop, sendsWithoutTask(pass.operation) {
            let message = transfer(of: pass)
            let run = PipelineRun(self, priorityControl, completion, consume pass)
            return run.started(by: transport.perform(message) { run.receive($0) })
        }
        let run = PipelineRun(self, priorityControl, completion)
        let task = Task.starting(on: executor) { [self, pass, stop] in
            run.finish(await outcome(of: pass, after: stop))
        }
        return run.started(by: AnyRequestToken(task))
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
        // All are released when the run ends, so that an app that keeps the handle keeps neither the request's body,
        // which the transfer holds, nor the objects that the closure holds.
        /// The caller's completion.
        var completion: Completion?
        /// The pass whose message is being sent.
        var pass: PipelinePass?
        /// The handle of the transfer or task in flight.
        var token: (any RequestToken)?
        var isOver = false
        var isCancelled = false
        /// Whether `started` hasn't been called yet; an outcome is then stored in `early`.
        var isStarting = true
        var early: Outcome?

        /// Ends the run.
        ///
        /// - Returns: The objects to release outside of the lock.
        mutating func end() -> Ended {
            isOver = true
            return Ended(completion: completion.take(), token: token.take())
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

    /// - Parameter pass: The pass whose message is sent without a task.
    init(
        _ pipeline: Pipeline,
        _ priorityControl: Priority.Control?,
        _ completion: @escaping @Sendable (Outcome) -> Void,
        _ pass: consuming PipelinePass? = nil
    ) {
        self.pipeline = pipeline
        self.priorityControl = priorityControl
        state = InlineLock(State(completion: Completion(call: completion), pass: pass))
    }

    /// Stores the handle, unless the run has already ended or continued in a task.
    func started(by token: any RequestToken) -> Pipeline.Started {
        let (early, ended): (Outcome?, Ended?) = state.withLock { state in
            state.isStarting = false
            if let early = state.early.take() { return (early, state.end()) }
            if case nil = state.token { state.token = token }
            return (nil, nil)
        }
        return withExtendedLifetime(ended) { early.map { .ended($0) } ?? .running(self) }
    }

    /// Takes the message's outcome through the observations.
    func receive(_ response: Result<TransferResponse, NetworkError>) {
        guard let pass = state.withLock({ $0.pass.take() }) else { return }
        var outcome: Outcome =
            switch response {
            case .success(let response): .success(.of(response, isStream: false))
            case .failure(let error): .failure(pass.operation.deadlineTimer?.received(error) ?? error)
            }
        var position = pass.observations.count
        while let waiting = pipeline.ascend(&outcome, pass, from: position) {
            guard state.withLock({ $0.isCancelled }) else { return resume(pass, after: .observation(waiting, outcome)) }
            // A cancelled operation isn't retried.
            pass.observations[waiting].observation.didEnd(&outcome, of: pass.operation)
            position = waiting
        }
        finish(outcome)
    }

    /// Continues in a task, which replaces the handle.
    private func resume(_ pass: PipelinePass, after stop: Pipeline.Stop) {
        let task = scope.run {
            CredentialFetch.begin(fetch) {
                Task(executorPreference: pipeline.executor) { [pipeline] in
                    self.finish(await pipeline.outcome(of: pass, after: stop))
                }
            }
        }
        let isCancelled = state.withLock { state in
            if !state.isCancelled, !state.isOver { state.token = AnyRequestToken(task) }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func finish(_ outcome: Outcome) {
        let ended: Ended? = state.withLock { state in
            if state.isStarting {
                state.early = outcome
                return nil
            }
            return state.end()
        }
        ended?.completion?.call(outcome)
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
