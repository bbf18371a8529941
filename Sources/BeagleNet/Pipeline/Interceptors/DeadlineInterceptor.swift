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
        let countdown = Countdown()
        let limited = operation.run == nil ? operation.inNewRun() : operation
        limited.run?.countdown = countdown
        let clock = operation.clock
        let left = max(.zero, limit - (operation.elapsed?() ?? .zero))
        var alarm: Task<Void, Never>?
        let result: Result<NetworkOperation.Result, NetworkError> = await withCancellableToken { completion in
            let work = Task.starting(on: nil) { [limited] in
                completion(
                    await .catching { () throws(NetworkError) in
                        try await next(limited) { result in
                            if countdown.isRunning { emit(result) }
                        }
                    }
                )
            }
            alarm = Task {
                // Thrown only where the operation ended first.
                do { try await clock.sleep(for: left) } catch { return }
                guard countdown.expire() else { return }
                work.cancel()
                do { try await Task.sleep(for: patience) } catch { return }
                completion(.failure(.heedsNoCancelling))
            }
            return TaskToken(work)
        }
        alarm?.cancel()
        // An answer that came together with the alarm is an answer.
        if case .success(let result) = result { return result }
        guard countdown.finish() else { throw .deadline(limit, result) }
        return try result.get()
    }
}

/// Whether an operation is still in time.
final class Countdown: Sendable {
    private enum State {
        case running, finished, expired
    }

    private let state = InlineLock(State.running)

    var isRunning: Bool { state.withLock { $0 == .running } }
    var isExpired: Bool { state.withLock { $0 == .expired } }

    /// The time is up.
    ///
    /// - Returns: whether the operation had not finished.
    fileprivate func expire() -> Bool { end(as: .expired) }

    /// The operation is done.
    ///
    /// - Returns: whether that was in time.
    fileprivate func finish() -> Bool { end(as: .finished) }

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
