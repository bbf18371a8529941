public import BeagleNetHTTP

/// An interceptor that pauses requests to an origin that fails repeatedly.
///
/// After a number of failures in a row, operations to the origin fail immediately for a while. Then one operation is
/// sent as a trial, and the others follow if it succeeds. Not a default interceptor:
/// `dependencies.interceptors.add(CircuitBreakerInterceptor())`.
///
/// These count as failures: temporary errors (no name, no connection, a timeout, a lost connection), the deadline of an
/// operation that had no response for at least a second, and the statuses 500, 502, 503 and 504. (The pattern: M.
/// Nygard, Release It!, 5.2; https://martinfowler.com/bliki/CircuitBreaker.html)
public final class CircuitBreakerInterceptor: RequestObserver {
    /// The interceptor's place: `.circuitBreaker`, below `.retry`.
    ///
    /// Each attempt counts, and an operation that fails immediately isn't retried.
    public var place: Pipeline.Place? { .circuitBreaker }

    /// The number of failures in a row that opens the circuit.
    public let limit: Int
    /// The time for which the circuit stays open.
    public let cooldown: Duration
    private let origins = Lock<[Origin: Circuit]>([:])
    private let lastTrial = Lock(0)
    private let time = ElapsedTime()
    /// The maximum number of origins to remember. With more, all are forgotten, which lets operations pass.
    private static let maxOrigins = 256
    /// The minimum time without a response after which a deadline counts as the server's failure.
    private static let minSilence = Duration.seconds(1)

    /// The state of an origin whose last request failed.
    private struct Circuit {
        var failures = 0
        /// The time at which a trial may be sent; `nil` while the circuit is closed.
        var reopens: Duration?
        /// The number of the trial in flight; `nil` without a trial.
        var trial: Int?
    }

    /// The decision about a request.
    private enum Pass {
        /// The request may be sent; if there is a number, as a trial.
        case open(trial: Int?)
        /// The request may not be sent before this time has passed.
        case closed(Duration)
    }

    /// Creates a circuit breaker for each origin.
    ///
    /// - Parameters:
    ///   - limit: The number of failures in a row that opens the circuit, above 0; 5 by default.
    ///   - cooldown: The time for which the circuit stays open; 30 s by default.
    public init(after limit: Int = 5, for cooldown: Duration = .seconds(30)) {
        self.limit = max(1, limit)
        self.cooldown = cooldown
    }

    /// Lets the operation pass if its circuit permits it.
    ///
    /// - Throws: A `NetworkError` of kind `.circuitOpen` if requests to the origin are paused; nothing was sent.
    public func willSend(_ operation: inout NetworkOperation) throws(NetworkError) -> (any RequestObservation)? {
        let now = time.now(for: operation)
        switch pass(to: operation.origin, at: now) {
        case .open(let trial): return Request(self, operation, trial, now)
        case .closed(let wait): throw .circuitOpen(operation.origin, for: wait)
        }
    }

    /// A request that may be sent.
    private final class Request: RequestObservation {
        private let breaker: CircuitBreakerInterceptor
        private let operation: NetworkOperation
        private let trial: Int?
        private let began: Duration
        /// Whether the server has accepted the subscription.
        private let hasBegun = Lock(false)

        init(_ breaker: CircuitBreakerInterceptor, _ operation: NetworkOperation, _ trial: Int?, _ began: Duration) {
            self.breaker = breaker
            self.operation = operation
            self.trial = trial
            self.began = began
        }

        /// Records a subscription as successful when the server has accepted it.
        ///
        /// A later loss, together with all subscriptions on the connection, doesn't predict whether the next one
        /// succeeds.
        func willEmit(_ result: NetworkOperation.Result) -> NetworkOperation.Result? {
            if operation.kind == .subscription, !markBegun() { note(.success(result)) }
            return result
        }

        func didEnd(_ outcome: inout NetworkOperation.Outcome, of sent: NetworkOperation) {
            if operation.kind == .subscription {
                if !markBegun() { note(outcome) }
                return
            }
            // A server that doesn't respond before the operation's deadline counts as failing.
            let isSilent =
                outcome.wasCancelledBeforeResponse && now - began >= CircuitBreakerInterceptor.minSilence
                && operation.deadlineTimer?.isExpired == true
            note(outcome, isSilent: isSilent)
        }

        private var now: Duration { breaker.time.now(for: operation) }

        private func markBegun() -> Bool {
            hasBegun.withLock { hasBegun in
                defer { hasBegun = true }
                return hasBegun
            }
        }

        private func note(_ outcome: NetworkOperation.Outcome, isSilent: Bool = false) {
            breaker.note(outcome, of: operation.origin, trial, at: now, isSilent: isSilent)
        }
    }

    private func pass(to origin: Origin, at now: Duration) -> Pass {
        origins.withLock { origins in
            guard let circuit = origins[origin], let reopens = circuit.reopens else { return .open(trial: nil) }
            if circuit.trial != nil || now < reopens { return .closed(max(.zero, reopens - now)) }
            let trial = lastTrial.withLock { last in
                last += 1
                return last
            }
            origins[origin]?.trial = trial
            return .open(trial: trial)
        }
    }

    private func note(
        _ outcome: Result<NetworkOperation.Result, NetworkError>,
        of origin: Origin,
        _ trial: Int?,
        at now: Duration,
        isSilent: Bool = false
    ) {
        origins.withLock { origins in
            // A request from before the circuit opened must not end another request's trial.
            if let trial, origins[origin]?.trial == trial { origins[origin]?.trial = nil }
            // A request that was cancelled or never sent says nothing about the server.
            if case .failure(let error) = outcome, error.isCancelled && !isSilent || error.isPrerequisiteFailure {
                return
            }
            if isSilent || outcome.isFailureOfTheServer {
                if origins.count >= Self.maxOrigins, origins[origin] == nil { origins.removeAll() }
                var circuit = origins[origin] ?? Circuit()
                circuit.failures += 1
                if circuit.failures >= limit { circuit.reopens = now + cooldown }
                origins[origin] = circuit
            } else if !origins.isEmpty {
                origins[origin] = nil
            }
        }
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// Whether the request was cancelled after it had left the queue and before a response arrived.
    fileprivate var wasCancelledBeforeResponse: Bool {
        if case .failure(let error) = self {
            return error.isCancelled && error.phase != .queue && error.phase != .body
        }
        return false
    }

    /// Whether the server couldn't be reached or couldn't respond.
    fileprivate var isFailureOfTheServer: Bool {
        if let status { return [500, 502, 503, 504].contains(status.code) }
        if case .failure(let error) = self { return error.isTransient }
        return false
    }
}

extension NetworkError {
    fileprivate static func circuitOpen(_ origin: Origin, for wait: Duration) -> NetworkError {
        NetworkError(
            .circuitOpen,
            during: .queue,
            "requests to \(origin) are paused because too many of them failed",
            advice: wait > .zero
                ? "try again in \(wait.milliseconds) ms" : "try again when the pending trial request succeeds"
        )
    }
}
