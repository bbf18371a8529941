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
        let deadline: Instant
        /// Whether the sleep wasn't cancelled.
        let isDue = Promise<Bool>()
    }

    private struct State {
        var now = Instant()
        var sleepers: [Sleeper] = []
        /// The tasks that wait for a number of sleepers.
        var watchers: [(count: Int, whenReached: Promise<Void>)] = []

        /// Removes and returns the promises of tasks for which there are now enough sleepers.
        mutating func readyWatchers() -> [Promise<Void>] {
            let readyWatchers = watchers.filter { $0.count <= sleepers.count }
            watchers.removeAll { $0.count <= sleepers.count }
            return readyWatchers.map(\.whenReached)
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
        try Task.checkCancellation()
        let sleeper = Sleeper(deadline: deadline)
        let readyWatchers: [Promise<Void>]? = state.withLock { state in
            guard deadline > state.now else { return nil }
            state.sleepers.append(sleeper)
            return state.readyWatchers()
        }
        guard let readyWatchers else { return }
        for watcher in readyWatchers { watcher.complete() }
        let isDue = await withTaskCancellationHandler {
            await sleeper.isDue.value
        } onCancel: {
            state.withLock { $0.sleepers.removeAll { $0.isDue === sleeper.isDue } }
            sleeper.isDue.complete(false)
        }
        if !isDue { throw CancellationError() }
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
        for sleeper in due { sleeper.isDue.complete(true) }
    }

    /// Waits until there are at least `count` sleepers.
    public func waitForSleepers(_ count: Int) async {
        let whenReached: Promise<Void>? = state.withLock { state in
            if state.sleepers.count >= count { return nil }
            let whenReached = Promise<Void>()
            state.watchers.append((count, whenReached))
            return whenReached
        }
        await whenReached?.value
    }

    /// The time until the next sleeper resumes, or `nil` if there are no sleepers.
    public var nextWait: Duration? {
        state.withLock { state in state.sleepers.map { state.now.duration(to: $0.deadline) }.min() }
    }
}
