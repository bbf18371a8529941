/// The time that a transfer spends waiting, in nanoseconds of the monotonic clock.
struct QueueTime {
    /// The time of the caller's request.
    let started: UInt64
    /// The time at which the first request was prepared; 0 before.
    private var begun: UInt64 = 0
    /// The time at which it began to wait for its turn; `nil` while it isn't waiting.
    private var waitingSince: UInt64?
    /// The time spent waiting after the first request.
    private var waited: UInt64 = 0

    /// Creates the time of a request that the caller has just started.
    init(started: UInt64) {
        self.started = started
    }

    /// Whether the transfer is waiting for its turn.
    var isWaiting: Bool { waitingSince != nil }

    /// Notes that a request is prepared.
    mutating func begin(at now: UInt64) {
        if begun == 0 { begun = now }
    }

    /// Notes that the transfer begins to wait for its turn.
    mutating func wait(since now: UInt64) {
        waitingSince = now
    }

    /// Notes that the transfer no longer waits, if it did.
    mutating func stopWaiting(at now: UInt64) {
        guard let since = waitingSince.take() else { return }
        if begun > 0 { waited += now - since }
    }

    /// Returns the time from the call until the first request, plus later waits for a turn.
    func queued(at now: UInt64) -> Duration {
        let begun = begun > 0 ? begun : now
        return .nanoseconds(Int64(waited + (begun - min(started, begun))))
    }
}
