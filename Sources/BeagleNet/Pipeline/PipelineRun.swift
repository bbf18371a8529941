import BeagleNetDependencies
import BeagleNetHTTP

extension Pipeline {
    /// An operation that was started without a task.
    enum Started: Sendable {
        /// It has ended already.
        case ended(Outcome)
        /// It is under way; the handle cancels it.
        case running(any RequestToken)
    }

    /// Takes an operation from the first interceptor to its outcome. A task is made only if an interceptor has to wait.
    ///
    /// - Parameters:
    ///   - operation: what is asked.
    ///   - emit: takes earlier results.
    ///   - completion: gets the outcome, once, unless it is returned; never from inside this call.
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
        run.start(after: stop)
        return run.started()
    }
}

/// An operation on its way through a pipeline for a caller without a task: the handle that cancels it.
private final class PipelineRun: RequestToken {
    typealias Outcome = Pipeline.Outcome

    /// In a value of its own: a function in a generic place would be wrapped each time that it is taken out.
    private struct Completion: Sendable {
        let call: @Sendable (Outcome) -> Void
    }

    private struct State: Sendable {
        /// Goes with the run, so that a handle that an app keeps doesn't keep what the app does with the outcome.
        var completion: Completion?
        /// Cancels what is under way: a transfer or a task.
        var token: (any RequestToken)?
        var isCancelled = false
        /// Whether an outcome is kept for the caller of `start`.
        var isStarting = true
        var early: Outcome?
    }

    private let pipeline: Pipeline
    private let pass: PipelinePass
    /// The caller's scope, for a task that is made on the transport's thread.
    private let scope = Beagle.scope
    private let fetch = CredentialFetch.present
    private let state: InlineLock<State>

    init(_ pipeline: Pipeline, _ pass: PipelinePass, _ completion: @escaping @Sendable (Outcome) -> Void) {
        self.pipeline = pipeline
        self.pass = pass
        state = InlineLock(State(completion: Completion(call: completion)))
    }

    func started() -> Pipeline.Started {
        let early = state.withLock { state in
            state.isStarting = false
            guard let early = state.early else { return nil as Pipeline.Outcome? }
            (state.early, state.completion) = (nil, nil)
            return early
        }
        return early.map { .ended($0) } ?? .running(self)
    }

    func start(after stop: Pipeline.Stop) {
        if case .transport = stop, pipeline.sendsWithoutTask(pass.operation) {
            do throws(NetworkError) {
                let token = try pipeline.send(pass) { self.receive(response: $0) }
                fill(token, isFirst: true)
            } catch {
                receive(.failure(error))
            }
            return
        }
        work(startingHere: true) { [pipeline, pass] in await pipeline.outcome(of: pass, after: stop) }
    }

    private func receive(response: Result<TransferResponse, NetworkError>) {
        switch response {
        case .success(let response): receive(.success(.of(response, isStream: false)))
        case .failure(let error):
            receive(.failure(pass.operation.countdown?.received(error) ?? error))
        }
    }

    /// Receives what came of the message.
    private func receive(_ outcome: Outcome) {
        var (outcome, position) = (outcome, pass.observations.count)
        while let waiting = pipeline.ascend(&outcome, pass, from: position) {
            guard state.withLock({ $0.isCancelled }) else {
                return work(startingHere: false) { [pipeline, pass, outcome] in
                    await pipeline.outcome(of: pass, resumingAt: waiting, after: outcome)
                }
            }
            // A cancelled operation has no other attempt.
            pass.observations[waiting].observation.didEnd(&outcome, of: pass.operation)
            position = waiting
        }
        finish(outcome)
    }

    /// Goes on in a task.
    ///
    /// - Parameter startingHere: whether it may run on this thread up to its first wait.
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
        let completion = state.withLock { state in
            if state.isStarting {
                state.early = outcome
                return nil as Completion?
            }
            defer { state.completion = nil }
            return state.completion
        }
        completion?.call(outcome)
    }

    /// - Parameter isFirst: whether it gives way to one that has come before it.
    private func fill(_ token: any RequestToken, isFirst: Bool) {
        let isCancelled = state.withLock { state in
            if state.isCancelled { return true }
            if !isFirst || state.token == nil { state.token = token }
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
}
