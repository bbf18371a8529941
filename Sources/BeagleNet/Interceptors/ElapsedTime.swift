import BeagleNetHTTP

/// A stopwatch that starts with the first operation and uses that operation's clock.
final class ElapsedTime: Sendable {
    private let stopwatch = Lock<(@Sendable () -> Duration)?>(nil)

    /// Returns the time since the first operation.
    func now(for operation: NetworkOperation) -> Duration {
        let elapsed = stopwatch.withLock { stopwatch in
            let started = stopwatch ?? operation.stopwatch()
            stopwatch = started
            return started
        }
        return elapsed()
    }
}

extension Clock<Duration> {
    /// Returns a closure that returns the time since this call.
    func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
