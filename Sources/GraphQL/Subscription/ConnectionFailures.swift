import BeagleNetHTTP
import Synchronization

/// The number of the last failure, counted over all connections and transports, so that an operation remembers only one
/// number.
private let numbers = Atomic(0)

/// The failures of shared connections. They let the operations of a lost connection retry together: one of them
/// connects, and its outcome applies to all.
///
/// All operations of a connection get the same random value for their delay (`SharedRetry`). If another operation has
/// just failed to reconnect, a retry fails with its error instead of connecting itself.
final class ConnectionFailures<Key: Hashable & Sendable>: Sendable {
    private struct Failure: Sendable {
        let error: NetworkError
        let retry: SharedRetry
        /// Whether other operations may use this failure. After a connection that worked, each may try again.
        let isShared: Bool
        /// Returns the age of the failure.
        let age: @Sendable () -> Duration
    }

    private struct State: Sendable {
        var failures: [Key: Failure] = [:]
    }

    /// The time for which a failure applies to other attempts. It is longer than the differences in wake-up time of
    /// operations with the same delay.
    private static var sharingPeriod: Duration { .seconds(1) }
    /// The time for which consecutive failures are counted. It is longer than any delay between them.
    private static var countingPeriod: Duration { .seconds(600) }

    private let state = Lock(State())

    /// Records the failure of a connection that had operations.
    ///
    /// - Parameters:
    ///   - isAcknowledged: Whether the server accepted operations on it, which resets the count.
    ///   - hasDeliveredResults: Whether it delivered results.
    ///   - isCurrent: Whether new operations of the key would join this connection. The failure of a retired connection
    ///     concerns only its own operations.
    ///   - clock: The clock of the operations' delays.
    /// - Returns: The error for all of the operations.
    func record(
        _ error: NetworkError,
        at key: Key,
        isAcknowledged: Bool,
        hasDeliveredResults: Bool,
        isCurrent: Bool,
        _ clock: any Clock<Duration>
    ) -> NetworkError {
        let age = Self.stopwatch(clock)
        let old = state.withLock { $0.failures }.filter { $0.value.age() > Self.countingPeriod }.keys
        return state.withLock { state in
            for key in old { state.failures[key] = nil }
            let count = isAcknowledged ? 1 : (state.failures[key]?.retry.failures ?? 0) + 1
            let retry = SharedRetry(
                number: numbers.add(1, ordering: .relaxed).newValue,
                failures: count,
                jitter: .random(in: .min ... .max)
            )
            var error = error
            error.sharedRetry = retry
            if isCurrent {
                state.failures[key] = Failure(error: error, retry: retry, isShared: !hasDeliveredResults, age: age)
            }
            return error
        }
    }

    /// Returns the error of an attempt that need not be made, or `nil` if it should be made.
    ///
    /// - Parameter number: The number of the operation's last failure. If it is `nil`, the attempt should be made.
    func failure(at key: Key, after number: Int?) -> NetworkError? {
        guard let number, let failure = state.withLock({ $0.failures[key] }) else { return nil }
        guard failure.isShared, failure.retry.number > number, failure.age() < Self.sharingPeriod else { return nil }
        var error = failure.error
        error.mayHaveReachedServer = false
        return error
    }

    /// Returns whether the last connection with operations has failed.
    func hasFailed(at key: Key) -> Bool {
        guard let failure = state.withLock({ $0.failures[key] }) else { return false }
        return failure.age() <= Self.countingPeriod
    }

    /// Resets the count after a connection ended without a failure.
    func remove(_ key: Key) {
        state.withLock { $0.failures[key] = nil }
    }

    /// Forgets all failures, so that the next operation connects.
    func removeAll() {
        state.withLock { $0.failures = [:] }
    }

    private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
