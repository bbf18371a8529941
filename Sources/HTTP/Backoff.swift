/// How long to wait before asking again what failed: longer each time, and by chance, so that clients which failed
/// together do not come back together.
///
/// A wait is chosen from nothing up to a window that begins with `base` and doubles up to `cap` ("full jitter":
/// https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), on top of what the server asked for.
public struct Backoff: Sendable, Hashable {
    /// The window after the first failure. 1 s.
    public var base: Duration
    /// The largest window. 30 s.
    public var cap: Duration
    /// The longest wait that a server may ask for; asked for more, there is no further attempt. 5 min.
    public var maxAsked: Duration
    /// Failures in a row after which there is no further attempt; nil for as many as come.
    public var limit: Int?

    /// A schedule with the documented defaults.
    public init(
        base: Duration = .seconds(1),
        cap: Duration = .seconds(30),
        maxAsked: Duration = .seconds(300),
        limit: Int? = nil
    ) {
        self.base = base
        self.cap = cap
        self.maxAsked = maxAsked
        self.limit = limit
    }

    /// The wait before the next attempt; nil where there is to be none.
    ///
    /// - Parameters:
    ///   - failures: attempts in a row that failed, 1 or more.
    ///   - asked: the least that the server wants a client to wait (`Retry-After`, an event stream's `retry`).
    ///   - generator: where the chance comes from.
    public func delay(
        after failures: Int,
        asked: Duration = .zero,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard limit.map({ failures < $0 }) ?? true, asked <= maxAsked else { return nil }
        return max(.zero, asked) + window(after: failures) * Double.random(in: 0..<1, using: &generator)
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
