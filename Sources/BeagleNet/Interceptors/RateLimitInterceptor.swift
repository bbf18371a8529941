public import BeagleNetHTTP

/// A rate limit for the operations to each origin, with a token bucket.
///
/// Each operation consumes a token, and the bucket refills over time. Operations wait in FIFO order when the bucket is
/// empty. A cancelled operation doesn't consume a token.
public final class RateLimitInterceptor: Interceptor {
    /// The interceptor's place: `.rateLimit`.
    public var place: Pipeline.Place? { .rateLimit }

    /// The average number of operations to an origin in each period.
    public let rate: Int
    /// The length of a period.
    public let period: Duration
    /// The number of operations that may start immediately after an idle time.
    public let burst: Int
    private let buckets = Lock<[Origin: Bucket]>([:])
    private let time = ElapsedTime()

    private struct Bucket: Sendable {
        /// The time when the bucket is full again, since the first operation.
        var full: Duration
        /// The turns of the operations that wait for a token, in order.
        ///
        /// The first operation waits for time to pass, the others for their turn.
        var queue: [Promise<Void>] = []
    }

    /// Creates a limit for each origin.
    ///
    /// - Parameters:
    ///   - rate: The number of operations in a period, above 0.
    ///   - period: The length of a period; a second by default.
    ///   - burst: The number of operations that may start immediately after an idle time, above 0; `rate` by default.
    public init(_ rate: Int, per period: Duration = .seconds(1), burst: Int? = nil) {
        self.rate = max(1, rate)
        self.period = period
        self.burst = max(1, burst ?? rate)
    }

    /// Takes a token, if there is one and no operation waits.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        enqueue(of: operation.origin, at: time.now(for: operation), waiting: false) == nil ? .proceed(nil) : .wait
    }

    /// Waits for the operation's turn at its origin, and then continues.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let origin = operation.origin
        if let turn = enqueue(of: origin, at: time.now(for: operation)) {
            defer { dequeue(of: origin, turn) }
            await turn.valueUnlessCancelled()
            if Task.isCancelled { throw .cancelledWhileWaiting }
            while let wait = wait(at: origin, time.now(for: operation)) { try await operation.sleep(for: wait) }
        }
        return try await next(operation, emit)
    }

    /// Takes a token if there is one and no operation waits.
    ///
    /// - Parameter waiting: Whether to reserve a place in the line if the bucket is empty.
    /// - Returns: The operation's turn; `nil` if a token was taken.
    private func enqueue(of origin: Origin, at now: Duration, waiting: Bool = true) -> Promise<Void>? {
        buckets.withLock { buckets in
            // An origin with a full bucket needn't be remembered.
            if buckets.count > 256 { buckets = buckets.filter { $0.value.full > now || !$0.value.queue.isEmpty } }
            var bucket = buckets[origin] ?? Bucket(full: now)
            defer { buckets[origin] = bucket }
            if bucket.queue.isEmpty, take(from: &bucket, at: now) == nil { return nil }
            let turn = Promise(bucket.queue.isEmpty ? () : nil)
            if waiting { bucket.queue.append(turn) }
            return turn
        }
    }

    /// Takes a token (the generic cell rate algorithm, ITU-T I.371).
    ///
    /// - Returns: The time until there is a token; `nil` if one was taken.
    private func take(from bucket: inout Bucket, at now: Duration) -> Duration? {
        let step = period / rate
        let full = max(bucket.full, now)
        let wait = full - now - step * (burst - 1)
        if wait > .zero { return wait }
        bucket.full = full + step
        return nil
    }

    private func wait(at origin: Origin, _ now: Duration) -> Duration? {
        buckets.withLock { buckets in
            guard var bucket = buckets[origin] else { return nil }
            defer { buckets[origin] = bucket }
            return take(from: &bucket, at: now)
        }
    }

    private func dequeue(of origin: Origin, _ turn: Promise<Void>) {
        let next = buckets.withLock { buckets in
            buckets[origin]?.queue.removeAll { $0 === turn }
            return buckets[origin]?.queue.first
        }
        next?.complete()
    }
}
