import BeagleNetDependencies
public import BeagleNetHTTP

/// An interceptor that retries failed operations if sending them twice does no harm.
///
/// It retries if no server can have acted on the request, for example because the name couldn't be resolved or no
/// connection was made. If the request failed later, or the response is 408, 429, 500, 502, 503 or 504, it retries only
/// if repeating has the same effect as sending once:
///
/// - The method is idempotent (RFC 9110, 9.2.2); for a form, it must be safe (9.2.1).
/// - The operation is a GraphQL query or subscription.
/// - The request has an `Idempotency-Key`.
///
/// A form or mutation that may have been executed is never sent again without such a key, nor is a body that can be
/// read only once. A mutation over a WebSocket has no key, because its messages have no fields.
///
/// Between attempts, it waits as `backoff` specifies, and at least as long as `Retry-After` asks. Each origin has a
/// budget, so that clients don't flood a failing server with retries.
///
/// A subscription whose connection is lost is retried as `subscriptionBackoff` specifies, without a budget or
/// `maxTime`, and the subscriber receives `NetworkOperation.Result.Connection.interrupted`. An attempt that produced a
/// result, or was open for longer than the longest window, resets the count. Subscriptions that lost the same
/// connection use the same random number for their waits, so that they share the next connection. The `retry` time of
/// an event stream is respected up to `Backoff.maxServerDelay`.
public final class RetryInterceptor: Interceptor {
    /// The interceptor's place: `.retry`.
    public var place: Pipeline.Place? { .retry }
    /// `true`: retrying doesn't block.
    public var neverBlocks: Bool { true }

    /// The waits between attempts and the maximum number of attempts.
    public let backoff: Backoff
    /// The waits and attempts for subscriptions.
    public let subscriptionBackoff: Backoff
    /// The maximum time between the start of the first attempt and the start of another; `nil` for no limit.
    public let maxTime: Duration?
    private let budget: Budget
    /// The waits that an event may end early.
    private let waits = Lock<(lastID: Int, tasks: [Int: Task<Void, any Error>])>((0, [:]))

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - backoff: The waits and attempts; by default three attempts in all, with windows of 250 ms and 500 ms.
    ///   - subscriptionBackoff: The waits and attempts for subscriptions; by default ten attempts in a row without a
    ///     result, with windows from 1 s to 30 s.
    ///   - maxTime: The maximum time between the start of the first attempt and the start of another; `nil`, the
    ///     default, for no limit.
    ///   - budget: The budget of retries for each origin; `RetryInterceptor.Budget()` by default.
    public init(
        backoff: Backoff = Backoff(base: .milliseconds(250), limit: 3),
        subscriptionBackoff: Backoff = Backoff(limit: 10),
        maxTime: Duration? = nil,
        budget: Budget = Budget()
    ) {
        self.backoff = backoff
        self.subscriptionBackoff = subscriptionBackoff
        self.maxTime = maxTime
        self.budget = budget
    }

    /// Retries immediately on each event, for example when the network has returned.
    ///
    /// Waits that a server has asked for aren't shortened.
    ///
    /// - Parameter events: A stream of events. It must not have another reader.
    /// - Returns: The handle that stops reading events.
    @discardableResult
    public func retry(on events: AsyncStream<Void>) -> any RequestToken {
        AnyRequestToken(
            Task.detached { [weak self] in
                for await _ in events {
                    guard let self else { return }
                    for wait in self.waits.withLock({ Array($0.tasks.values) }) { wait.cancel() }
                }
            }
        )
    }

    /// Observes the first attempt, and retries after failures that may be temporary.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        .proceed(Attempts(of: operation, self, maxTime == nil ? nil : operation.stopwatch()))
    }

    /// Continues, and retries after failures that may be temporary.
    ///
    /// A pipeline does the same with `begin`.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try await next.through(self, operation, emit)
    }

    /// The attempts of one operation.
    private final class Attempts: RequestObservation {
        private let operation: NetworkOperation
        private let retry: RetryInterceptor
        /// Returns the time since the first attempt began; `nil` if no limit depends on it.
        private let elapsed: (@Sendable () -> Duration)?

        init(of operation: NetworkOperation, _ retry: RetryInterceptor, _ elapsed: (@Sendable () -> Duration)?) {
            self.operation = operation
            self.retry = retry
            self.elapsed = elapsed
        }

        func mustWait(after outcome: NetworkOperation.Outcome) -> Bool {
            outcome.mayBeTransient(for: operation) && operation.deadlineTimer?.isExpired != true
        }

        func didEnd(_ outcome: inout NetworkOperation.Outcome, of sent: NetworkOperation) {
            retry.note(outcome, of: operation)
        }

        nonisolated(nonsending) func resume(
            after outcome: NetworkOperation.Outcome,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            operation.run?.beginRetries()
            return try await retry.performRetries(operation, next, emit, after: outcome, elapsed)
        }
    }

    /// Records a success if the server responded, even with an error status. A cancelled operation proves nothing.
    private func note(_ outcome: Result<NetworkOperation.Result, NetworkError>, of operation: NetworkOperation) {
        if outcome.isResponse { budget.noteSuccess(of: operation) }
    }

    /// Performs the attempts after the first.
    ///
    /// - Parameter elapsed: Returns the time since the first attempt began; `nil` to measure from now on.
    nonisolated(nonsending) func performRetries(
        _ operation: NetworkOperation,
        _ next: Next,
        _ emit: @escaping Emit,
        after first: Result<NetworkOperation.Result, NetworkError>,
        _ elapsed: (@Sendable () -> Duration)?
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        var outcome = first
        var failures = 1
        // A later failure doesn't change that an earlier attempt may have reached the server.
        var hasReached = first.mayHaveReachedServer
        let elapsed = elapsed ?? operation.stopwatch()
        while outcome.mayBeTransient(for: operation), operation.deadlineTimer?.isExpired != true {
            let wait: Duration
            switch decision(after: outcome, of: operation, failures, elapsed) {
            case .wait(let duration): wait = duration
            case .stop(let reason):
                operation.log(NetworkMessage("\(operation.logName): not retrying, because \(reason)"))
                return try outcome.markingReached(hasReached)
            }
            operation.log(
                NetworkMessage(
                    "\(operation.logName): retrying in \(wait.shown) (attempt \(operation.attempt + 1)), because \(outcome.reason)"
                )
            )
            do {
                if operation.kind == .subscription, case .failure(let error) = outcome {
                    emit(NetworkOperation.Result(.connection(.interrupted(error, wait: wait)), hasNext: true))
                }
                try await pause(for: wait, !outcome.asksForWait, operation)
            } catch {
                throw error.markingReached(hasReached)
            }
            operation.beginAttempt()
            if hasReached { operation.outboxSending?.noteRepetition() }
            let news = Lock<(hasGiven: Bool, opened: Duration?)>((false, nil))
            outcome = await .catching { () throws(NetworkError) in
                try await next(operation) { result in
                    if result.isResponse { news.withLock { $0.hasGiven = true } }
                    if case .open = result.connection { news.withLock { $0.opened = elapsed() } }
                    emit(result)
                }
            }
            // An attempt with a result, or one that was open for long, had succeeded at first. A connection that breaks
            // once an hour must not use up the attempts.
            let (hasGiven, opened) = news.withLock { $0 }
            let wasOpenLong = opened.map { elapsed() - $0 >= max(.seconds(1), subscriptionBackoff.cap) } ?? false
            failures = hasGiven || wasOpenLong ? 1 : failures + 1
            hasReached = hasReached || outcome.mayHaveReachedServer
        }
        note(outcome, of: operation)
        return try outcome.markingReached(hasReached)
    }

    /// Waits, unless an event ends the wait.
    ///
    /// - Parameter mayEnd: Whether an event may end the wait.
    nonisolated(nonsending) private func pause(
        for wait: Duration,
        _ mayEnd: Bool,
        _ operation: NetworkOperation
    ) async throws(NetworkError) {
        guard mayEnd else { return try await operation.sleep(for: wait) }
        let sleep = Task { [clock = operation.clock] in try await clock.sleep(for: wait) }
        let id = waits.withLock { waits in
            waits.lastID += 1
            waits.tasks[waits.lastID] = sleep
            return waits.lastID
        }
        defer { waits.withLock { $0.tasks[id] = nil } }
        await withTaskCancellationHandler {
            // Throws only if the wait was ended early.
            do { try await sleep.value } catch {}
        } onCancel: {
            sleep.cancel()
        }
        if Task.isCancelled { throw .cancelledWhileWaiting }
    }

    /// The next step after a failure that may be temporary.
    private enum RetryDecision {
        case wait(Duration)
        /// Stops, for this reason.
        case stop(String)
    }

    private func decision(
        after outcome: Result<NetworkOperation.Result, NetworkError>,
        of operation: NetworkOperation,
        _ failures: Int,
        _ elapsed: () -> Duration
    ) -> RetryDecision {
        if let reason = operation.reasonNotToSendAgain(after: outcome) { return .stop(reason) }
        let isSubscription = operation.kind == .subscription
        var backoff = isSubscription ? subscriptionBackoff : backoff
        // The `retry` time of an event stream doesn't mean that the server refuses, however long it is.
        let serverDelay = outcome.retryAfter ?? min(outcome.reconnectionTime ?? .zero, backoff.maxServerDelay)
        // Subscriptions that lost the same connection retry after the same wait, so that they can share the next one.
        let shared = outcome.sharedRetry
        if shared != nil, backoff.limit.map({ failures < $0 }) ?? true { backoff.limit = nil }
        var generator = RandomSource(fixedValue: shared?.jitter)
        let count = isSubscription ? max(failures, shared?.failures ?? 0) : failures
        guard let wait = backoff.delay(after: count, serverDelay: serverDelay, using: &generator) else {
            return .stop(
                serverDelay > backoff.maxServerDelay
                    ? "the server asked for a wait of \(serverDelay.shown)" : "\(failures) attempts failed"
            )
        }
        if isSubscription { return .wait(wait) }
        if let maxTime, elapsed() + wait > maxTime {
            return .stop("the next attempt would begin more than \(maxTime.shown) after the first")
        }
        guard budget.spend(on: operation) else { return .stop("too many requests to the origin have failed") }
        return .wait(wait)
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// The status of the response, whether it is a success or an error.
    var status: HTTPResponse.Status? {
        switch self {
        case .success(let result): result.status
        case .failure(let error): error.kind == .status ? error.response?.status : nil
        }
    }

    private static func isTransient(_ status: HTTPResponse.Status) -> Bool {
        switch status.code {
        case 408, 429, 500, 502, 503, 504: true
        default: false
        }
    }

    /// Whether a retry may help. A subscription also waits until an open circuit breaker closes.
    fileprivate func mayBeTransient(for operation: NetworkOperation) -> Bool {
        if let status { return Self.isTransient(status) }
        guard case .failure(let error) = self else { return false }
        return error.isTransient || operation.kind == .subscription && error.kind == .circuitOpen
    }

    /// Whether the server has responded.
    fileprivate var isResponse: Bool {
        switch self {
        case .success: true
        case .failure(let error): error.kind == .status && !error.isPrerequisiteFailure
        }
    }

    /// The wait that the server asks for (RFC 9110, 10.2.3).
    var retryAfter: Duration? {
        switch self {
        case .success(let result): result.head?.retryAfter
        case .failure(let error): error.response?.retryAfter
        }
    }

    /// The wait that the server of an event stream asks for.
    fileprivate var reconnectionTime: Duration? {
        if case .failure(let error) = self { return error.reconnectionTime }
        return nil
    }

    /// The shared retry state of subscriptions that lost the same connection.
    fileprivate var sharedRetry: SharedRetry? {
        if case .failure(let error) = self { return error.sharedRetry }
        return nil
    }

    /// Whether the server itself has asked for a wait.
    fileprivate var asksForWait: Bool { status != nil || retryAfter != nil || reconnectionTime != nil }

    /// Whether the server may have acted.
    fileprivate var mayHaveReachedServer: Bool {
        if case .failure(let error) = self { return error.mayHaveReachedServer }
        return true
    }

    /// Returns the result or throws the error, which says whether any attempt may have reached the server.
    fileprivate func markingReached(_ hasReached: Bool) throws(NetworkError) -> NetworkOperation.Result {
        do {
            return try get()
        } catch {
            throw error.markingReached(hasReached)
        }
    }

    fileprivate var reason: String {
        if let status { return "the server returned \(status.code)" }
        if case .failure(let error) = self { return error.message }
        return ""
    }
}

extension NetworkOperation {
    /// Returns the reason not to send the message again; `nil` if repeating it is harmless and its body is available.
    fileprivate func reasonNotToSendAgain(after outcome: Swift.Result<Result, NetworkError>) -> String? {
        guard transfer.body?.isReplayable ?? true else { return "the request body can be read only once" }
        if case .failure(let error) = outcome, !error.mayHaveReachedServer { return nil }
        let hasKey = transfer.head.headerFields.contains(.idempotencyKey)
        if hasKey, performer?.sendsFields ?? true { return nil }
        if kind.resendPolicy.allows(transfer.head.method) { return nil }
        return hasKey
            ? "the server may have processed the request, and this transport cannot send its Idempotency-Key"
            : "the server may have processed the request, and it has no Idempotency-Key"
    }

    /// Returns a closure that returns the time since this call, by the operation's clock.
    package func stopwatch() -> @Sendable () -> Duration { clock.stopwatch() }

    nonisolated(nonsending) func sleep(for duration: Duration) async throws(NetworkError) {
        do {
            try await clock.sleep(for: duration)
        } catch {
            throw .cancelledWhileWaiting
        }
    }

    func log(_ message: @autoclosure () -> some LogType & Sendable, at level: LogLevel = .debug) {
        if logs(level) { logger.log(message()) }
    }
}

extension NetworkError {
    static let cancelledWhileWaiting = NetworkError(
        .cancelled,
        during: .queue,
        "the request was cancelled while it was waiting"
    )

    /// Returns the error, marked if an earlier attempt may have reached the server.
    fileprivate func markingReached(_ hasReached: Bool) -> NetworkError {
        var error = self
        error.mayHaveReachedServer = mayHaveReachedServer || hasReached
        return error
    }
}

extension Duration {
    fileprivate var shown: String { "\(milliseconds) ms" }
}

/// The system's source of random numbers, or a fixed number.
///
/// It has a stored property because ThreadSanitizer reads at the address of `inout` values, and an empty struct has no
/// storage.
struct RandomSource: RandomNumberGenerator {
    var fixedValue: UInt64?

    mutating func next() -> UInt64 { fixedValue ?? .random(in: .min ... .max) }
}
