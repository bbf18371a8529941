public import BeagleNetHTTP

/// An interceptor that limits the total time of an operation, including attempts, the waits between them and the
/// renewal of credentials.
///
/// The timeouts of `TransferOptions` apply to one attempt.
public struct DeadlineInterceptor: Interceptor {
    /// The interceptor's place: `.deadline`.
    public var place: Pipeline.Place? { .deadline }
    /// `true`: the limit doesn't block.
    public var neverBlocks: Bool { true }
    /// The maximum time of an operation; `nil` for no limit.
    public var limit: Duration?

    /// Creates a limit for every operation without its own (`NetworkOperation.deadline`).
    ///
    /// - Parameter limit: The maximum time of an operation, above zero; `nil`, the default, for no limit, because each
    ///   attempt already has timeouts.
    public init(limit: Duration? = nil) {
        self.limit = limit
    }

    /// Returns whether the operation has a limit.
    public func applies(to operation: NetworkOperation) -> Bool { limit != nil || operation.deadline != nil }

    /// The time to wait for a cancelled operation to end, so that the error can report its progress.
    package var gracePeriod = Duration.seconds(1)

    /// Limits the transfer, and the waits between attempts.
    ///
    /// A stream, a subscription, an app's own transport and a clock other than the system's need a task.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        guard let limit = operation.deadline ?? limit else { return .proceed(nil) }
        guard operation.clock is ContinuousClock, next.limitsTransfers(of: operation) else { return .wait }
        let deadlineTimer = deadlineTimer(of: &operation, limit)
        deadlineTimer.limitsTransfers = true
        return .proceed(Limited(limit, deadlineTimer))
    }

    /// Continues in a separate task, which is cancelled when the time is up.
    ///
    /// The error is of kind `.timeout`, unless a stored response replaces it (`RequestPolicy.networkFirst`). If the
    /// operation doesn't end within a second after that, for example because a closure ignores cancellation, this stops
    /// waiting for it.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard let limit = operation.deadline ?? limit else { return try await next(operation, emit) }
        // The operation runs in another task, which would start even if this one is cancelled.
        if Task.isCancelled { throw .cancelledBeforeStart }
        var operation = operation
        let deadlineTimer = deadlineTimer(of: &operation, limit)
        let result = await deadlineTimer.runLimited(operation.clock) { [operation] () throws(NetworkError) in
            try await next(operation) { result in
                if deadlineTimer.isRunning { emit(result) }
            }
        }
        operation.run?.end(deadlineTimer)
        return try deadlineTimer.finalOutcome(result, limit).get()
    }

    private func deadlineTimer(of operation: inout NetworkOperation, _ limit: Duration) -> DeadlineTimer {
        let left = max(.zero, limit - (operation.elapsed?() ?? .zero))
        let deadlineTimer = DeadlineTimer(left, gracePeriod)
        if operation.run == nil { operation = operation.inNewRun() }
        operation.run?.deadlineTimer = deadlineTimer
        return deadlineTimer
    }

    /// An operation whose transfers are limited.
    private final class Limited: RequestObservation {
        private let limit: Duration
        private let deadlineTimer: DeadlineTimer

        init(_ limit: Duration, _ deadlineTimer: DeadlineTimer) {
            self.limit = limit
            self.deadlineTimer = deadlineTimer
        }

        func willEmit(_ result: NetworkOperation.Result) -> NetworkOperation.Result? {
            deadlineTimer.isRunning ? result : nil
        }

        func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
            outcome = deadlineTimer.finalOutcome(outcome, limit)
            operation.run?.end(deadlineTimer)
        }
    }
}

/// The deadline of a running operation.
final class DeadlineTimer: Sendable {
    private enum State {
        case running, finished, expired
    }

    private let state = InlineLock(State.running)
    private let isGuarding = InlineLock(false)
    private let limits = InlineLock(false)
    private let end: ContinuousClock.Instant
    private let limit: Duration
    private let gracePeriod: Duration

    /// - Parameters:
    ///   - limit: The time from now on.
    ///   - gracePeriod: The time to wait for a cancelled operation to end.
    fileprivate init(_ limit: Duration, _ gracePeriod: Duration) {
        end = .now + limit
        self.limit = limit
        self.gracePeriod = gracePeriod
    }

    var isRunning: Bool { state.withLock { $0 == .running } }
    var isExpired: Bool { state.withLock { $0 == .expired } }

    /// Whether each transfer gets the remaining time as its timeout.
    fileprivate(set) var limitsTransfers: Bool {
        get { limits.withLock { $0 } }
        set { limits.withLock { $0 = newValue } }
    }

    /// Lets transfers, such as those of an outbox, continue after the time is up.
    func stopLimitingTransfers() { limitsTransfers = false }

    /// The remaining time by the system's clock, at least a millisecond.
    var left: Duration { max(.milliseconds(1), ContinuousClock.now.duration(to: end)) }

    /// Returns the error of a limited transfer, as a cancellation if the time is up.
    func received(_ error: NetworkError) -> NetworkError {
        guard limitsTransfers, error.kind == .timeout, ContinuousClock.now >= end, expire() || isExpired else {
            return error
        }
        var error = error
        error.kind = .cancelled
        return error
    }

    /// Runs code that may wait, and cancels it when the time is up.
    ///
    /// Nested calls run their body directly.
    func runCancellable(
        _ body: @escaping @Sendable () async throws(NetworkError) -> NetworkOperation.Result
    ) async -> NetworkOperation.Outcome {
        guard begin() else { return await .catching(body) }
        defer { isGuarding.withLock { $0 = false } }
        return await runLimited(ContinuousClock(), left, body)
    }

    private func begin() -> Bool {
        isGuarding.withLock { isGuarding in
            defer { isGuarding = true }
            return !isGuarding
        }
    }

    fileprivate func runLimited(
        _ clock: any Clock<Duration>,
        _ left: Duration? = nil,
        _ body: @escaping @Sendable () async throws(NetworkError) -> NetworkOperation.Result
    ) async -> NetworkOperation.Outcome {
        let left = left ?? limit
        var alarm: Task<Void, Never>?
        let result: NetworkOperation.Outcome = await withCancellableToken { completion in
            let work = Task.starting(on: nil) { completion(await .catching(body)) }
            alarm = Task {
                // Throws only if the operation ended first.
                do { try await clock.sleep(for: left) } catch { return }
                guard expire() || isExpired else { return }
                work.cancel()
                do { try await Task.sleep(for: gracePeriod) } catch { return }
                completion(.failure(.ignoresCancellation))
            }
            return AnyRequestToken(work)
        }
        alarm?.cancel()
        return result
    }

    /// Returns the final outcome of the operation, which is a timeout if it failed after the time was up.
    fileprivate func finalOutcome(_ outcome: NetworkOperation.Outcome, _ limit: Duration) -> NetworkOperation.Outcome {
        // A result that arrives together with the alarm counts.
        guard case .failure = outcome else {
            _ = end(as: .finished)
            return outcome
        }
        return end(as: .finished) ? outcome : .failure(.deadline(limit, outcome))
    }

    /// Marks the time as up.
    ///
    /// - Returns: Whether the operation hadn't finished.
    private func expire() -> Bool { end(as: .expired) }

    private func end(as end: State) -> Bool {
        state.withLock { state in
            guard state == .running else { return false }
            state = end
            return true
        }
    }
}

extension NetworkError {
    /// The error for an operation that ignores cancellation. It isn't known how far it got, so the server may have
    /// acted.
    fileprivate static let ignoresCancellation: NetworkError = {
        var error = NetworkError(
            .timeout,
            during: .queue,
            "the operation is waiting for work that ignores cancellation"
        )
        error.mayHaveReachedServer = true
        return error
    }()

    fileprivate static func deadline(
        _ limit: Duration,
        _ result: Result<NetworkOperation.Result, NetworkError>
    ) -> NetworkError {
        var last = NetworkError(.timeout, during: .queue, "")
        if case .failure(let error) = result { last = error }
        var error = NetworkError(
            .timeout,
            during: last.phase,
            "the operation took longer than its deadline of \(limit)",
            advice: "increase NetworkOperation.deadline, or find out what was slow",
            underlying: last
        )
        error.mayHaveReachedServer = last.mayHaveReachedServer
        error.request = last.request
        error.resendPolicy = last.resendPolicy
        error.metrics = last.metrics
        return error
    }
}

extension Result where Failure == NetworkError {
    nonisolated(nonsending) package static func catching(
        _ body: nonisolated(nonsending) () async throws(NetworkError) -> Success
    ) async -> Self {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
