/// How often progress is told: often enough for a person's eye, however many pieces come.
package struct ProgressPace: Sendable {
    /// The least time between two reports, but for the last.
    package static let interval = Duration.milliseconds(50)

    private var last: ContinuousClock.Instant?

    /// Before the first report.
    package init() {}

    /// Whether it is time for a report, which then counts as told.
    package mutating func isDue(at now: ContinuousClock.Instant = .now) -> Bool {
        if let last, last.duration(to: now) < Self.interval { return false }
        last = now
        return true
    }
}
