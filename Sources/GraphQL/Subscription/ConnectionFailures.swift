import BeagleNetHTTP
import Synchronization

/// Of all connections, whichever way they go: an operation remembers one number.
private let numbers = Atomic(0)

/// How connections failed that operations share, so that those which were on one try again together: one of them connects,
/// and what becomes of that is so for all.
///
/// All operations of a connection are given the same chance for their wait (`SharedRetry`). Whoever comes back when another
/// has tried already, and failed just now, is told of that failure in place of trying itself.
final class ConnectionFailures<Key: Hashable & Sendable>: Sendable {
    private struct Failure: Sendable {
        let error: NetworkError
        let retry: SharedRetry
        /// Whether others may take it for theirs: what worked may work again.
        let isShared: Bool
        /// How long ago it was.
        let age: @Sendable () -> Duration
    }

    private struct State: Sendable {
        var failures: [Key: Failure] = [:]
    }

    /// How long a failure stands for other attempts: longer than those who wait for the same time take to wake up.
    private static var life: Duration { .seconds(1) }
    /// How long failures in a row are counted: longer than any wait between them.
    private static var memory: Duration { .seconds(600) }

    private let state = Lock(State())

    /// Notes that a connection failed which operations were on.
    ///
    /// - Parameters:
    ///   - isAcknowledged: whether the server took operations on it, so that the count begins anew.
    ///   - hasGiven: whether it gave results.
    ///   - isCurrent: whether it was the one that operations of the key join: what becomes of one that was retired is
    ///     for those alone who were on it.
    ///   - clock: what the operations wait by.
    /// - Returns: the error for all of them.
    func note(
        _ error: NetworkError,
        at key: Key,
        isAcknowledged: Bool,
        hasGiven: Bool,
        isCurrent: Bool,
        _ clock: any Clock<Duration>
    ) -> NetworkError {
        let age = Self.stopwatch(clock)
        let old = state.withLock { $0.failures }.filter { $0.value.age() > Self.memory }.keys
        return state.withLock { state in
            for key in old { state.failures[key] = nil }
            let count = isAcknowledged ? 1 : (state.failures[key]?.retry.failures ?? 0) + 1
            let retry = SharedRetry(
                number: numbers.add(1, ordering: .relaxed).newValue,
                failures: count,
                chance: .random(in: .min ... .max)
            )
            var error = error
            error.sharedRetry = retry
            if isCurrent { state.failures[key] = Failure(error: error, retry: retry, isShared: !hasGiven, age: age) }
            return error
        }
    }

    /// What an attempt fails with that need not be made.
    ///
    /// - Parameter number: of the failure that the operation had last; nil where it had none, so that it tries.
    func failure(at key: Key, after number: Int?) -> NetworkError? {
        guard let number, let failure = state.withLock({ $0.failures[key] }) else { return nil }
        guard failure.isShared, failure.retry.number > number, failure.age() < Self.life else { return nil }
        var error = failure.error
        error.mayHaveReachedServer = false
        return error
    }

    /// Whether the last connection failed that operations were on.
    func hasFailed(at key: Key) -> Bool {
        guard let failure = state.withLock({ $0.failures[key] }) else { return false }
        return failure.age() <= Self.memory
    }

    /// A connection worked to its end: the count begins anew.
    func forget(_ key: Key) {
        state.withLock { $0.failures[key] = nil }
    }

    /// Whoever comes next tries.
    func forget() {
        state.withLock { $0.failures = [:] }
    }

    private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
