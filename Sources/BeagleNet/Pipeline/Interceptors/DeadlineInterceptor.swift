public import BeagleNetHTTP

/// Limits operations as a whole: attempts, waits between them, renewing of credentials and all. The time limits of
/// `TransferOptions` are for one attempt.
public struct DeadlineInterceptor: Interceptor {
    /// `.deadline`.
    public var place: Pipeline.Place? { .deadline }
    /// It doesn't block.
    public var neverBlocks: Bool { true }
    /// The longest that an operation may take; nil for as long as it likes.
    public var limit: Duration?

    /// A limit on every operation that brings none of its own (`NetworkOperation.deadline`).
    ///
    /// - Parameter limit: the longest that an operation may take, above zero; none by default, because each attempt has
    ///   limits already.
    public init(limit: Duration? = nil) {
        self.limit = limit
    }

    /// Where there is a limit.
    public func applies(to operation: NetworkOperation) -> Bool { limit != nil || operation.deadline != nil }

    /// How long what is cancelled is waited for, so that the failure can tell how far it came.
    package var patience = Duration.seconds(1)

    /// Limits the transfer, and the waits between attempts. A stream, a subscription, a transport of the app's and a clock
    /// other than the system's need a task.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        guard let limit = operation.deadline ?? limit else { return .proceed(nil) }
        guard operation.clock is ContinuousClock, next.limitsTransfers(of: operation) else { return .wait }
        let countdown = countdown(of: &operation, limit)
        countdown.limitsTransfers = true
        return .proceed(Limited(limit, countdown))
    }

    /// Goes on in a task of its own, which is cancelled when the time is up; the failure is of kind `.timeout`, unless a
    /// stored answer takes its place (`RequestPolicy.networkFirst`). What does not end a second after that, as a closure that
    /// heeds no cancelling, is waited for no longer.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard let limit = operation.deadline ?? limit else { return try await next(operation, emit) }
        // Its task is another, which begins before it can be cancelled.
        if Task.isCancelled { throw .cancelledBeforeStart }
        var operation = operation
        let countdown = countdown(of: &operation, limit)
        let result = await countdown.guarding(operation.clock) { [operation] () throws(NetworkError) in
            try await next(operation) { result in
                if countdown.isRunning { emit(result) }
            }
        }
        operation.run?.end(countdown)
        return try countdown.judged(result, limit).get()
    }

    private func countdown(of operation: inout NetworkOperation, _ limit: Duration) -> Countdown {
        let left = max(.zero, limit - (operation.elapsed?() ?? .zero))
        let countdown = Countdown(left, patience)
        if operation.run == nil { operation = operation.inNewRun() }
        operation.run?.countdown = countdown
        return countdown
    }

    /// An operation whose transfers are limited.
    private final class Limited: RequestObservation {
        private let limit: Duration
        private let countdown: Countdown

        init(_ limit: Duration, _ countdown: Countdown) {
            self.limit = limit
            self.countdown = countdown
        }

        func willEmit(_ result: NetworkOperation.Result) -> NetworkOperation.Result? {
            countdown.isRunning ? result : nil
        }

        func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
            outcome = countdown.judged(outcome, limit)
            operation.run?.end(countdown)
        }
    }
}

/// Whether an operation is still in time.
final class Countdown: Sendable {
    private enum State {
        case running, finished, expired
    }

    private let state = InlineLock(State.running)
    private let isGuarding = InlineLock(false)
    private let limits = InlineLock(false)
    private let end: ContinuousClock.Instant
    private let limit: Duration
    private let patience: Duration

    /// - Parameters:
    ///   - limit: the time from now on.
    ///   - patience: how long what is cancelled is waited for.
    fileprivate init(_ limit: Duration, _ patience: Duration) {
        end = .now + limit
        self.limit = limit
        self.patience = patience
    }

    var isRunning: Bool { state.withLock { $0 == .running } }
    var isExpired: Bool { state.withLock { $0 == .expired } }

    /// Whether transfers are given the time that is left as their limit.
    fileprivate(set) var limitsTransfers: Bool {
        get { limits.withLock { $0 } }
        set { limits.withLock { $0 = newValue } }
    }

    /// Transfers go on when the time is up, as those of an outbox do.
    func leaveTransfersAlone() { limitsTransfers = false }

    /// The time that is left by the system's clock, at least a millisecond.
    var left: Duration { max(.milliseconds(1), ContinuousClock.now.duration(to: end)) }

    /// The error of a limited transfer, as a cancellation if the time is up.
    func received(_ error: NetworkError) -> NetworkError {
        guard limitsTransfers, error.kind == .timeout, ContinuousClock.now >= end, expire() || isExpired else {
            return error
        }
        var error = error
        error.kind = .cancelled
        return error
    }

    /// Runs what may wait: it is cancelled when the time is up. Inside of such a body there is no need for another.
    func waiting(
        _ body: @escaping @Sendable () async throws(NetworkError) -> NetworkOperation.Result
    ) async -> NetworkOperation.Outcome {
        guard begin() else { return await .catching(body) }
        defer { isGuarding.withLock { $0 = false } }
        return await guarding(ContinuousClock(), left, body)
    }

    private func begin() -> Bool {
        isGuarding.withLock { isGuarding in
            defer { isGuarding = true }
            return !isGuarding
        }
    }

    fileprivate func guarding(
        _ clock: any Clock<Duration>,
        _ left: Duration? = nil,
        _ body: @escaping @Sendable () async throws(NetworkError) -> NetworkOperation.Result
    ) async -> NetworkOperation.Outcome {
        let left = left ?? limit
        var alarm: Task<Void, Never>?
        let result: NetworkOperation.Outcome = await withCancellableToken { completion in
            let work = Task.starting(on: nil) { completion(await .catching(body)) }
            alarm = Task {
                // Thrown only if the operation ended first.
                do { try await clock.sleep(for: left) } catch { return }
                guard expire() || isExpired else { return }
                work.cancel()
                do { try await Task.sleep(for: patience) } catch { return }
                completion(.failure(.heedsNoCancelling))
            }
            return AnyRequestToken(work)
        }
        alarm?.cancel()
        return result
    }

    /// The outcome of the operation, which has ended.
    fileprivate func judged(_ outcome: NetworkOperation.Outcome, _ limit: Duration) -> NetworkOperation.Outcome {
        // A result that came together with the alarm is a result.
        guard case .failure = outcome else {
            _ = end(as: .finished)
            return outcome
        }
        return end(as: .finished) ? outcome : .failure(.deadline(limit, outcome))
    }

    /// The time is up.
    ///
    /// - Returns: Whether the operation had not finished.
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
    /// Where it was, and what it has done, nobody can say.
    fileprivate static let heedsNoCancelling: NetworkError = {
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
        error.repetition = last.repetition
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
