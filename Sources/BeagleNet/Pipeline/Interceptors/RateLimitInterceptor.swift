public import BeagleNetHTTP

/// Holds operations back so that a server is asked no more often than it likes: a bucket of tokens for each origin, of
/// which each operation takes one and which fills with time. Who finds none waits its turn, in order.
public final class RateLimitInterceptor: Interceptor {
    /// `.rateLimit`.
    public var place: Pipeline.Place? { .rateLimit }

    /// How many operations an origin may be asked in a period, on average.
    public let rate: Int
    /// How long a period is.
    public let period: Duration
    /// How many operations may go at once after a rest.
    public let burst: Int
    /// When the bucket of an origin is full again, counted from the first operation.
    private let full = Lock<[Origin: Duration]>([:])
    private let time = ElapsedTime()

    /// A limit for each origin.
    ///
    /// - Parameters:
    ///   - rate: how many operations in a period, above 0.
    ///   - period: how long that is; a second by default.
    ///   - burst: how many at once after a rest, above 0; `rate` by default.
    public init(_ rate: Int, per period: Duration = .seconds(1), burst: Int? = nil) {
        self.rate = max(1, rate)
        self.period = period
        self.burst = max(1, burst ?? rate)
    }

    /// Waits for the turn of the operation's origin, then goes on.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let wait = wait(for: operation)
        if wait > .zero { try await operation.sleep(for: wait) }
        return try await next(operation, emit)
    }

    /// Takes a token, or the place of one that is still to come (the generic cell rate algorithm, ITU-T I.371).
    private func wait(for operation: NetworkOperation) -> Duration {
        let now = time.now(for: operation)
        let step = period / rate
        return full.withLock { full in
            // An origin whose bucket is full need not be kept in mind.
            if full.count > 256 { full = full.filter { $0.value > now } }
            let due = max(full[operation.origin] ?? now, now)
            full[operation.origin] = due + step
            return due - now - step * (burst - 1)
        }
    }
}
