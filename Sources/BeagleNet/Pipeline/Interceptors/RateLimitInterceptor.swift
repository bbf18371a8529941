public import BeagleNetHTTP

/// Holds operations back so that a server is asked no more often than it likes: a bucket of tokens for each origin, of
/// which each operation takes one and which fills with time. Who finds none waits its turn, in order; who is cancelled before
/// has taken none.
public final class RateLimitInterceptor: Interceptor {
    /// `.rateLimit`.
    public var place: Pipeline.Place? { .rateLimit }

    /// How many operations an origin may be asked in a period, on average.
    public let rate: Int
    /// How long a period is.
    public let period: Duration
    /// How many operations may go at once after a rest.
    public let burst: Int
    private let buckets = Lock<[Origin: Bucket]>([:])
    private let lastID = Lock(0)
    private let time = ElapsedTime()

    private struct Bucket: Sendable {
        /// When it is full again, counted from the first operation.
        var full: Duration
        /// Who waits for a token, in order: the first for time to pass, the others for the first.
        var line: [Int] = []
        var turns: [Int: CheckedContinuation<Void, Never>] = [:]
    }

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

    /// Takes a token, if there is one and no operation waits.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        joinLine(of: operation.origin, at: time.now(for: operation), waiting: false) == nil ? .proceed(nil) : .wait
    }

    /// Waits for the turn of the operation's origin, then goes on.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let origin = operation.origin
        if let id = joinLine(of: origin, at: time.now(for: operation)) {
            defer { leaveLine(of: origin, id) }
            try await turn(of: id, at: origin)
            while let wait = wait(at: origin, time.now(for: operation)) { try await operation.sleep(for: wait) }
        }
        return try await next(operation, emit)
    }

    /// Takes a token if there is one and no operation waits.
    ///
    /// - Parameter waiting: whether it gets a place in the line if the bucket is empty.
    /// - Returns: The place; nil if a token was taken.
    private func joinLine(of origin: Origin, at now: Duration, waiting: Bool = true) -> Int? {
        buckets.withLock { buckets in
            // An origin whose bucket is full need not be kept in mind.
            if buckets.count > 256 { buckets = buckets.filter { $0.value.full > now || !$0.value.line.isEmpty } }
            var bucket = buckets[origin] ?? Bucket(full: now)
            defer { buckets[origin] = bucket }
            if bucket.line.isEmpty, take(from: &bucket, at: now) == nil { return nil }
            if !waiting { return 0 }
            let id = lastID.withLock { last in
                last += 1
                return last
            }
            bucket.line.append(id)
            return id
        }
    }

    /// Takes a token (the generic cell rate algorithm, ITU-T I.371).
    ///
    /// - Returns: how long there will be none; nil where one was taken.
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

    /// Waits until it is the first of the line.
    nonisolated(nonsending) private func turn(of id: Int, at origin: Origin) async throws(NetworkError) {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = buckets.withLock { buckets in
                    if Task.isCancelled || buckets[origin]?.line.first == id { return true }
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

    private func leaveLine(of origin: Origin, _ id: Int) {
        let next = buckets.withLock { buckets in
            buckets[origin]?.line.removeAll { $0 == id }
            guard let first = buckets[origin]?.line.first else { return nil as CheckedContinuation<Void, Never>? }
            return buckets[origin]?.turns.removeValue(forKey: first)
        }
        next?.resume()
    }
}
