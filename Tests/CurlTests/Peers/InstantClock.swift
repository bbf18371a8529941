import BeagleNetHTTP

/// A clock whose waits return immediately and are recorded.
final class InstantClock: Clock {
    struct Instant: InstantProtocol {
        var offset = Swift.Duration.zero

        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private let state = Lock<(now: Instant, waits: [Swift.Duration])>((Instant(), []))

    var now: Instant { state.withLock { $0.now } }
    let minimumResolution = Swift.Duration.zero
    /// The requested durations of the waits.
    var waits: [Swift.Duration] { state.withLock { $0.waits } }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.waits.append(state.now.duration(to: deadline))
            state.now = deadline
        }
    }
}
