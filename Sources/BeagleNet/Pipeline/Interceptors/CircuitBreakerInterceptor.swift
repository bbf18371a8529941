public import BeagleNetHTTP

/// Leaves a server alone that fails time after time: after so many failures in a row its origin is not asked for a
/// while, and operations fail at once; then one is let through to find out, and the others follow if it succeeds.
///
/// A failure is what may pass (no name, no connection, a time limit, a connection lost), the deadline of an operation
/// that was under way for a second without an answer, and the statuses 500, 502, 503 and 504. It is not among the default
/// interceptors: `dependencies.interceptors.add(CircuitBreakerInterceptor())`.
/// (The pattern: M. Nygard, Release It!, 5.2; https://martinfowler.com/bliki/CircuitBreaker.html)
public final class CircuitBreakerInterceptor: RequestObserver {
    /// `.circuitBreaker`: each attempt of a retry counts, and what fails at once is not tried again.
    public var place: Pipeline.Place? { .circuitBreaker }

    /// How many failures in a row open the circuit.
    public let limit: Int
    /// How long it stays open.
    public let rest: Duration
    private let origins = Lock<[Origin: Circuit]>([:])
    private let lastTrial = Lock(0)
    private let time = ElapsedTime()
    /// Origins kept in mind; beyond it all is forgotten, which lets operations through.
    private static let maxOrigins = 256
    /// What a deadline cuts off sooner tells nothing of the server.
    private static let silence = Duration.seconds(1)

    /// What is known of an origin that failed last.
    private struct Circuit {
        var failures = 0
        /// Until when it is left alone; nil while it is asked.
        var reopens: Duration?
        /// The number of the operation that is finding out; nil where none is.
        var trial: Int?
    }

    /// Whether an operation may ask.
    private enum Pass {
        /// As any other; where it has a number, to find out.
        case open(trial: Int?)
        /// Not before that long.
        case closed(Duration)
    }

    /// A circuit for each origin.
    ///
    /// - Parameters:
    ///   - limit: how many failures in a row open it, above 0; 5 by default.
    ///   - rest: how long it stays open; 30 s by default.
    public init(after limit: Int = 5, for rest: Duration = .seconds(30)) {
        self.limit = max(1, limit)
        self.rest = rest
    }

    /// Lets the operation pass if the origin may be asked.
    ///
    /// - Throws: `NetworkError` of kind `.circuitOpen` if requests to it are paused; nothing was sent.
    public func willSend(_ operation: inout NetworkOperation) throws(NetworkError) -> (any RequestObservation)? {
        let now = time.now(for: operation)
        switch pass(to: operation.origin, at: now) {
        case .open(let trial): return Request(self, operation, trial, now)
        case .closed(let wait): throw .circuitOpen(operation.origin, for: wait)
        }
    }

    /// A request that was let pass.
    private final class Request: RequestObservation {
        private let breaker: CircuitBreakerInterceptor
        private let operation: NetworkOperation
        private let trial: Int?
        private let began: Duration
        /// Whether a subscription has been accepted.
        private let hasBegun = Lock(false)

        init(_ breaker: CircuitBreakerInterceptor, _ operation: NetworkOperation, _ trial: Int?, _ began: Duration) {
            self.breaker = breaker
            self.operation = operation
            self.trial = trial
            self.began = began
        }

        /// A subscription succeeds when the server has accepted it; that it is lost hours later, with all that share its
        /// connection, says nothing of whether the next will succeed.
        func willEmit(_ result: NetworkOperation.Result) -> NetworkOperation.Result? {
            if operation.kind == .subscription, !exchangeBegun() { note(.success(result)) }
            return result
        }

        func didEnd(_ outcome: inout NetworkOperation.Outcome, of sent: NetworkOperation) {
            if operation.kind == .subscription {
                if !exchangeBegun() { note(outcome) }
                return
            }
            // A server that is silent until the operation's deadline is as good as none.
            let isSilent =
                outcome.wasCancelledInSilence && now - began >= CircuitBreakerInterceptor.silence
                && operation.countdown?.isExpired == true
            note(outcome, isSilent: isSilent)
        }

        private var now: Duration { breaker.time.now(for: operation) }

        private func exchangeBegun() -> Bool {
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
            // One that began before the circuit opened ends no trial but its own.
            if let trial, origins[origin]?.trial == trial { origins[origin]?.trial = nil }
            // What was cancelled, or never sent, has found nothing out.
            if case .failure(let error) = outcome, error.isCancelled && !isSilent || error.isAside { return }
            if isSilent || outcome.isFailureOfTheServer {
                if origins.count >= Self.maxOrigins, origins[origin] == nil { origins.removeAll() }
                var circuit = origins[origin] ?? Circuit()
                circuit.failures += 1
                if circuit.failures >= limit { circuit.reopens = now + rest }
                origins[origin] = circuit
            } else if !origins.isEmpty {
                origins[origin] = nil
            }
        }
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// Whether it was cancelled when it had left the queue and no answer had come.
    fileprivate var wasCancelledInSilence: Bool {
        if case .failure(let error) = self {
            return error.isCancelled && error.phase != .queue && error.phase != .body
        }
        return false
    }

    /// Whether the origin could not be asked, or could not answer.
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
