/// A schedule of delays between retries: exponential backoff with jitter.
///
/// The jitter keeps clients that failed at the same time from retrying at the same time. Each delay is a random
/// duration between zero and a window, plus the delay that the server asked for. The window starts at `base` and
/// doubles up to `cap` ("full jitter": https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
public struct Backoff: Sendable, Hashable {
    /// The window after the first failure, 1 s by default.
    public var base: Duration
    /// The largest window, 30 s by default.
    public var cap: Duration
    /// The longest delay that the server may ask for, 5 min by default.
    ///
    /// If it asks for more, there is no retry.
    public var maxServerDelay: Duration
    /// The number of consecutive failures after which there is no retry, or `nil` for no limit.
    public var limit: Int?

    /// Creates a schedule with the documented defaults.
    public init(
        base: Duration = .seconds(1),
        cap: Duration = .seconds(30),
        maxServerDelay: Duration = .seconds(300),
        limit: Int? = nil
    ) {
        self.base = base
        self.cap = cap
        self.maxServerDelay = maxServerDelay
        self.limit = limit
    }

    /// Returns the delay before the next attempt, or `nil` if there must be no further attempt.
    ///
    /// - Parameters:
    ///   - failures: The number of consecutive failed attempts, 1 or more.
    ///   - serverDelay: The minimum delay that the server asks for (`Retry-After`, or `retry` in an event stream).
    ///   - generator: The source of randomness.
    public func delay(
        after failures: Int,
        serverDelay: Duration = .zero,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard limit.map({ failures < $0 }) ?? true, serverDelay <= maxServerDelay else { return nil }
        return max(.zero, serverDelay) + window(after: failures) * Double.random(in: 0..<1, using: &generator)
    }

    private func window(after failures: Int) -> Duration {
        guard base > .zero else { return .zero }
        var window = base
        var doublings = failures - 1
        while doublings > 0, window < cap {
            window *= 2
            doublings -= 1
        }
        return max(.zero, min(cap, window))
    }
}

/// The state shared by requests that lost the same connection.
///
/// With it, they retry at the same time and share the next connection.
package struct SharedRetry: Sendable {
    /// The number of the failure. Later failures have greater numbers.
    package let number: Int
    /// The number of consecutive failed connections.
    package let failures: Int
    /// The random value that determines the delay, shared so that all requests have the same delay.
    package let jitter: UInt64

    package init(number: Int, failures: Int, jitter: UInt64) {
        self.number = number
        self.failures = failures
        self.jitter = jitter
    }
}
