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
    private let lastID = Lock(0)
    private let time = ElapsedTime()

    private struct Bucket: Sendable {
        /// The time when the bucket is full again, since the first operation.
        var full: Duration
        /// The operations that wait for a token, in order.
        ///
        /// The first waits for time to pass, the others for the first.
        var queue: [Int] = []
        var turns: [Int: CheckedContinuation<Void, Never>] = [:]
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
        if let id = enqueue(of: origin, at: time.now(for: operation)) {
            defer { dequeue(of: origin, id) }
            try await waitForTurn(of: id, at: origin)
            while let wait = wait(at: origin, time.now(for: operation)) { try await operation.sleep(for: wait) }
        }
        return try await next(operation, emit)
    }

    /// Takes a token if there is one and no operation waits.
    ///
    /// - Parameter waiting: Whether to reserve a place in the line if the bucket is empty.
    /// - Returns: The place; `nil` if a token was taken.
    private func enqueue(of origin: Origin, at now: Duration, waiting: Bool = true) -> Int? {
        buckets.withLock { buckets in
            // An origin with a full bucket needn't be remembered.
            if buckets.count > 256 { buckets = buckets.filter { $0.value.full > now || !$0.value.queue.isEmpty } }
            var bucket = buckets[origin] ?? Bucket(full: now)
            defer { buckets[origin] = bucket }
            if bucket.queue.isEmpty, take(from: &bucket, at: now) == nil { return nil }
            if !waiting { return 0 }
            let id = lastID.withLock { last in
                last += 1
                return last
            }
            bucket.queue.append(id)
            return id
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

    /// Waits until the operation is the first in the line.
    nonisolated(nonsending) private func waitForTurn(of id: Int, at origin: Origin) async throws(NetworkError) {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = buckets.withLock { buckets in
                    if Task.isCancelled || buckets[origin]?.queue.first == id { return true }
                    buckets[origin]?.turns[id] = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            buckets.withLock { $0[origin]?.turns.removeValue(forKey: id) }?.resume()
        }
        if Task.isCancelled { throw .cancelledWhileWaiting }
    }

    private func dequeue(of origin: Origin, _ id: Int) {
        let next = buckets.withLock { buckets in
            buckets[origin]?.queue.removeAll { $0 == id }
            guard let first = buckets[origin]?.queue.first else { return nil as CheckedContinuation<Void, Never>? }
            return buckets[origin]?.turns.removeValue(forKey: first)
        }
        next?.resume()
    }
}
