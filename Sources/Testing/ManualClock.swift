import BeagleNetHTTP

/// A clock that advances only when a test advances it, so that delays are tested without waiting.
///
/// ```swift
/// let clock = ManualClock()
/// Beagle.dependencies.clock = clock
/// async let answer = client.send(request)
/// await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(1))
/// ```
public final class ManualClock: Clock, Sendable {
    /// An instant of the clock.
    public struct Instant: InstantProtocol {
        /// The time since the clock's start.
        public var offset: Duration

        /// Creates an instant at this offset from the clock's start.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// Returns the instant after a duration.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the duration to another instant.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Returns whether `one` is before `other`.
        public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private struct Sleeper {
        let id: Int
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant()
        var lastID = 0
        var sleepers: [Sleeper] = []
        /// The tasks that wait for a number of sleepers.
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var cancelled: Set<Int> = []

        /// Removes and returns the tasks for which there are now enough sleepers.
        mutating func readyWatchers() -> [CheckedContinuation<Void, Never>] {
            let readyWatchers = watchers.filter { $0.count <= sleepers.count }
            watchers.removeAll { $0.count <= sleepers.count }
            return readyWatchers.map(\.continuation)
        }
    }

    private let state = Lock(State())

    /// Creates a clock at offset zero.
    public init() {}

    /// The current instant.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero, because the clock has no minimum step.
    public var minimumResolution: Duration { .zero }

    /// Sleeps until the clock is advanced to `deadline`.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { add(Sleeper(id: id, deadline: deadline, continuation: $0)) }
        } onCancel: {
            cancel(id)
        }
    }

    private func add(_ sleeper: Sleeper) {
        let (isCancelled, readyWatchers): (Bool, [CheckedContinuation<Void, Never>]?) = state.withLock { state in
            if state.cancelled.remove(sleeper.id) != nil { return (true, nil) }
            guard sleeper.deadline > state.now else { return (false, nil) }
            state.sleepers.append(sleeper)
            return (false, state.readyWatchers())
        }
        if isCancelled { return sleeper.continuation.resume(throwing: CancellationError()) }
        guard let readyWatchers else { return sleeper.continuation.resume() }
        for continuation in readyWatchers { continuation.resume() }
    }

    private func cancel(_ id: Int) {
        let sleeper: Sleeper? = state.withLock { state in
            guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.sleepers.remove(at: index)
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }

    /// Advances the clock and resumes the sleepers whose deadline has passed, earliest first.
    public func advance(by duration: Duration) {
        let due: [Sleeper] = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            let due = state.sleepers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
            state.sleepers.removeAll { $0.deadline <= now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Waits until there are at least `count` sleepers.
    public func waitForSleepers(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let readyWatchers = state.withLock { state in
                state.watchers.append((count, continuation))
                return state.readyWatchers()
            }
            for continuation in readyWatchers { continuation.resume() }
        }
    }

    /// The time until the next sleeper resumes, or `nil` if there are no sleepers.
    public var nextWait: Duration? {
        state.withLock { state in state.sleepers.map { state.now.duration(to: $0.deadline) }.min() }
    }
}
