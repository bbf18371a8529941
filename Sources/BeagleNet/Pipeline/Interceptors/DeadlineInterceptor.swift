public import BeagleNetHTTP

/// Limits operations as a whole: attempts, waits between them, renewing of credentials and all. The time limits of
/// `TransferOptions` are for one attempt.
public struct DeadlineInterceptor: BriefInterceptor {
    /// `.deadline`.
    public var place: Pipeline.Place? { .deadline }
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

    /// Goes on in a task of its own, which is cancelled when the time is up; the failure is of kind `.timeout`.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard let limit = operation.deadline ?? limit else { return try await next(operation, emit) }
        let run = Lock<Outcome>(.running)
        let work = Task {
            await Result<NetworkOperation.Result, NetworkError>.catching { () throws(NetworkError) in
                try await next(operation) { result in
                    if run.withLock({ $0.isRunning }) { emit(result) }
                }
            }
        }
        let clock = operation.clock
        let alarm = Task {
            // Thrown only where the operation ended first.
            do { try await clock.sleep(for: limit) } catch { return }
            if run.withLock({ $0.expire() }) { work.cancel() }
        }
        defer { alarm.cancel() }
        let result = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        // An answer that came together with the alarm is an answer.
        if case .success(let result) = result { return result }
        guard run.withLock({ $0.finish() }) else { throw .deadline(limit, result) }
        return try result.get()
    }

    private enum Outcome {
        case running, finished, expired

        var isRunning: Bool { self == .running }

        mutating func expire() -> Bool {
            guard self == .running else { return false }
            self = .expired
            return true
        }

        /// Whether it finished in time.
        mutating func finish() -> Bool {
            guard self == .running else { return false }
            self = .finished
            return true
        }
    }
}

extension NetworkError {
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
            advice: "raise NetworkOperation.deadline, or find out what was slow",
            underlying: last
        )
        error.mayHaveReachedServer = last.mayHaveReachedServer
        error.request = last.request
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
