import BeagleNetDependencies
public import BeagleNetHTTP

/// Asks again what failed on the way, where asking twice does no harm.
///
/// Asked again is what no server can have acted on (no name, no connection), and what failed later or was answered
/// with 408, 429, 500, 502, 503 or 504 if asking twice does what asking once does: its method is idempotent (RFC 9110,
/// 9.2.2; of a form it must be safe, 9.2.1), it is a GraphQL query or subscription, or it carries an `Idempotency-Key`. A form
/// or a mutation that may have been executed is never sent again without such a key, nor is a body that cannot be read twice. A
/// mutation over a WebSocket has none: its messages have no fields.
///
/// Between attempts it waits as `backoff` says, and at least as long as `Retry-After` asks. Each origin has a budget, so
/// that a server which answers nobody is not asked by all again and again.
///
/// A subscription whose connection is lost is asked for again as `subscriptionBackoff` says, without a budget or `maxTime`,
/// and who hears it is told with `NetworkOperation.Result.Connection.interrupted`. An attempt that gave a result, or was
/// open for longer than the longest window, begins the count anew. Subscriptions that lost one connection choose their waits
/// by the same chance, and share the next connection. What the server of an event stream wishes (`retry`) is waited for, up to `Backoff.maxAsked`.
public final class RetryInterceptor: Interceptor {
    /// `.retry`.
    public var place: Pipeline.Place? { .retry }
    /// It doesn't block.
    public var neverBlocks: Bool { true }

    /// How long to wait between attempts and how often to try.
    public let backoff: Backoff
    /// The same for subscriptions.
    public let subscriptionBackoff: Backoff
    /// How long after the first attempt another may begin; nil for as long as attempts are left.
    public let maxTime: Duration?
    private let budget: RetryBudget
    /// What ends the waits that need not be seen through.
    private let waits = Lock<(lastID: Int, tasks: [Int: Task<Void, any Error>])>((0, [:]))

    /// Asks again as `backoff` says.
    ///
    /// - Parameters:
    ///   - backoff: waits and attempts; by default three attempts in all, with windows of 250 ms and 500 ms.
    ///   - subscriptionBackoff: the same for subscriptions; by default ten attempts in a row that give nothing, with windows
    ///     from 1 s to 30 s.
    ///   - maxTime: how long after the first attempt another may begin; nil by default.
    ///   - budget: how many retries an origin is given; `RetryBudget()` by default.
    public init(
        backoff: Backoff = Backoff(base: .milliseconds(250), limit: 3),
        subscriptionBackoff: Backoff = Backoff(limit: 10),
        maxTime: Duration? = nil,
        budget: RetryBudget = RetryBudget()
    ) {
        self.backoff = backoff
        self.subscriptionBackoff = subscriptionBackoff
        self.maxTime = maxTime
        self.budget = budget
    }

    /// Ends the waits whenever an event comes, as that the network is back: what could not be reached is asked again at once.
    /// What a server wants to be waited for is waited for.
    ///
    /// - Parameter events: yields one after another; read here alone.
    /// - Returns: the handle that ends the listening.
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

    /// Observes the first attempt, and makes others after failures that may pass.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        .proceed(Attempts(of: operation, next.credentialOwner, self, maxTime == nil ? nil : operation.stopwatch()))
    }

    /// Goes on, and once more after each failure that may pass; a pipeline does so with `begin`.
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
        /// The number of the user whose credentials the first attempt had.
        private let owner: Int
        private let retry: RetryInterceptor
        /// Returns the time since the first attempt began; nil if no limit depends on it.
        private let elapsed: (@Sendable () -> Duration)?

        init(
            of operation: NetworkOperation,
            _ owner: Int,
            _ retry: RetryInterceptor,
            _ elapsed: (@Sendable () -> Duration)?
        ) {
            self.operation = operation
            self.owner = owner
            self.retry = retry
            self.elapsed = elapsed
        }

        func mustWait(after outcome: NetworkOperation.Outcome) -> Bool {
            outcome.mayBeTransient(for: operation) && operation.countdown?.isExpired != true
        }

        func didEnd(_ outcome: inout NetworkOperation.Outcome, of sent: NetworkOperation) {
            retry.note(outcome, of: operation)
        }

        nonisolated(nonsending) func resume(
            after outcome: NetworkOperation.Outcome,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            if owner != 0 { operation.run?.firstOwner = owner }
            return try await retry.repeated(operation, next, emit, after: outcome, elapsed)
        }
    }

    /// A server that answers, be it with a refusal, is well; that somebody left says nothing.
    private func note(_ outcome: Result<NetworkOperation.Result, NetworkError>, of operation: NetworkOperation) {
        if outcome.isAnswer { budget.noteSuccess(of: operation) }
    }

    /// The attempts after the first.
    ///
    /// - Parameter elapsed: tells how long ago that began; nil where nobody asks.
    nonisolated(nonsending) func repeated(
        _ operation: NetworkOperation,
        _ next: Next,
        _ emit: @escaping Emit,
        after first: Result<NetworkOperation.Result, NetworkError>,
        _ elapsed: (@Sendable () -> Duration)?
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        var outcome = first
        var failures = 1
        // What one attempt may have done, the failure of a later one does not undo.
        var hasReached = first.mayHaveReachedServer
        let elapsed = elapsed ?? operation.stopwatch()
        while outcome.mayBeTransient(for: operation), operation.countdown?.isExpired != true {
            let wait: Duration
            switch step(after: outcome, of: operation, failures, elapsed) {
            case .wait(let duration): wait = duration
            case .stop(let reason):
                operation.log(NetworkMessage("\(operation.line): not retrying, because \(reason)"))
                return try outcome.reaching(hasReached)
            }
            operation.log(
                NetworkMessage(
                    "\(operation.line): retrying in \(wait.shown) (attempt \(operation.attempt + 1)), because \(outcome.reason)"
                )
            )
            do {
                if operation.kind == .subscription, case .failure(let error) = outcome {
                    emit(NetworkOperation.Result(.connection(.interrupted(error, wait: wait)), hasNext: true))
                }
                try await pause(for: wait, !outcome.asksForWait, operation)
            } catch {
                throw error.reaching(hasReached)
            }
            operation.tryAgain()
            if hasReached { operation.outboxSending?.noteRepetition() }
            let news = Lock<(hasGiven: Bool, opened: Duration?)>((false, nil))
            outcome = await .catching { () throws(NetworkError) in
                try await next(operation) { result in
                    if result.isAnswer { news.withLock { $0.hasGiven = true } }
                    if case .open = result.connection { news.withLock { $0.opened = elapsed() } }
                    emit(result)
                }
            }
            // What gave something had been well, and so had what was open for long: a connection that breaks once an hour
            // is not given up.
            let (hasGiven, opened) = news.withLock { $0 }
            let wasOpenLong = opened.map { elapsed() - $0 >= max(.seconds(1), subscriptionBackoff.cap) } ?? false
            failures = hasGiven || wasOpenLong ? 1 : failures + 1
            hasReached = hasReached || outcome.mayHaveReachedServer
        }
        note(outcome, of: operation)
        return try outcome.reaching(hasReached)
    }

    /// Waits, where nobody says that it need not be.
    ///
    /// - Parameter mayEnd: whether somebody may.
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
            // Thrown only where it was ended.
            do { try await sleep.value } catch {}
        } onCancel: {
            sleep.cancel()
        }
        if Task.isCancelled { throw .cancelledWhileWaiting }
    }

    /// What follows a failure that may pass.
    private enum Step {
        case wait(Duration)
        /// Why it is not asked again.
        case stop(String)
    }

    private func step(
        after outcome: Result<NetworkOperation.Result, NetworkError>,
        of operation: NetworkOperation,
        _ failures: Int,
        _ elapsed: () -> Duration
    ) -> Step {
        if let reason = operation.reasonNotToSendAgain(after: outcome) { return .stop(reason) }
        let isSubscription = operation.kind == .subscription
        var backoff = isSubscription ? subscriptionBackoff : backoff
        // An event stream's wish for its next connection is no refusal, however long it is.
        let asked = outcome.retryAfter ?? min(outcome.reconnectionTime ?? .zero, backoff.maxAsked)
        // Who lost one connection together asks again together, so that they can share the next: after the same wait.
        let shared = outcome.sharedRetry
        if shared != nil, backoff.limit.map({ failures < $0 }) ?? true { backoff.limit = nil }
        var generator = Chance(given: shared?.chance)
        let count = isSubscription ? max(failures, shared?.failures ?? 0) : failures
        guard let wait = backoff.delay(after: count, asked: asked, using: &generator) else {
            return .stop(
                asked > backoff.maxAsked
                    ? "the server asked for a wait of \(asked.shown)" : "\(failures) attempts failed"
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
    /// The status of the answer, whether it counts as a failure or not.
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

    /// Whether asking again may help. A subscription outlasts the time for which a server is left alone.
    fileprivate func mayBeTransient(for operation: NetworkOperation) -> Bool {
        if let status { return Self.isTransient(status) }
        guard case .failure(let error) = self else { return false }
        return error.isTransient || operation.kind == .subscription && error.kind == .circuitOpen
    }

    /// Whether the server gave an answer.
    fileprivate var isAnswer: Bool {
        switch self {
        case .success: true
        case .failure(let error): error.kind == .status && !error.isAside
        }
    }

    /// What the server asks clients to wait (RFC 9110, 10.2.3).
    var retryAfter: Duration? {
        switch self {
        case .success(let result): result.head?.retryAfter
        case .failure(let error): error.response?.retryAfter
        }
    }

    /// What the server of an event stream asks clients to wait.
    fileprivate var reconnectionTime: Duration? {
        if case .failure(let error) = self { return error.reconnectionTime }
        return nil
    }

    /// What those have in common who lost the same connection.
    fileprivate var sharedRetry: SharedRetry? {
        if case .failure(let error) = self { return error.sharedRetry }
        return nil
    }

    /// Whether it is the server that wants to be waited for.
    fileprivate var asksForWait: Bool { status != nil || retryAfter != nil || reconnectionTime != nil }

    /// Whether the server may have acted.
    fileprivate var mayHaveReachedServer: Bool {
        if case .failure(let error) = self { return error.mayHaveReachedServer }
        return true
    }

    /// The result after attempts that may have reached the server.
    fileprivate func reaching(_ hasReached: Bool) throws(NetworkError) -> NetworkOperation.Result {
        do {
            return try get()
        } catch {
            throw error.reaching(hasReached)
        }
    }

    fileprivate var reason: String {
        if let status { return "the server returned \(status.code)" }
        if case .failure(let error) = self { return error.message }
        return ""
    }
}

extension NetworkOperation {
    /// nil where sending the message once more cannot do what it did a second time, and its body is still there.
    fileprivate func reasonNotToSendAgain(after outcome: Swift.Result<Result, NetworkError>) -> String? {
        guard transfer.body?.isReplayable ?? true else { return "the request body can be read only once" }
        if case .failure(let error) = outcome, !error.mayHaveReachedServer { return nil }
        let hasKey = transfer.head.headerFields.contains(.idempotencyKey)
        if hasKey, performer?.sendsFields ?? true { return nil }
        if kind.repetition.allows(transfer.head.method) { return nil }
        return hasKey
            ? "the server may have processed the request, and this transport cannot send its Idempotency-Key"
            : "the server may have processed the request, and it has no Idempotency-Key"
    }

    /// Tells how long ago it was made, by the operation's clock.
    package func stopwatch() -> @Sendable () -> Duration {
        func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
            let start = clock.now
            return { start.duration(to: clock.now) }
        }
        return stopwatch(clock)
    }

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

    /// The same error, after attempts that may have reached the server.
    fileprivate func reaching(_ hasReached: Bool) -> NetworkError {
        var error = self
        error.mayHaveReachedServer = mayHaveReachedServer || hasReached
        return error
    }
}

extension Duration {
    fileprivate var shown: String { "\(milliseconds) ms" }
}
