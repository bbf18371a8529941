import BeagleNetHTTP

/// Tells time by the clock of the operations that ask, from the first one on.
final class ElapsedTime: Sendable {
    private let stopwatch = Lock<(@Sendable () -> Duration)?>(nil)

    /// How long ago the first operation asked.
    func now(for operation: NetworkOperation) -> Duration {
        let elapsed = stopwatch.withLock { stopwatch in
            let started = stopwatch ?? operation.stopwatch()
            stopwatch = started
            return started
        }
        return elapsed()
    }
}
