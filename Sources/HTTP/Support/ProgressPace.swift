/// A limit on how often progress is reported, so that many small chunks don't cause many reports.
package struct ProgressPace: Sendable {
    /// The minimum time between two reports, except before the last one.
    package static let interval = Duration.milliseconds(50)

    private var last: ContinuousClock.Instant?

    /// Creates a pace whose first report is due immediately.
    package init() {}

    /// Returns whether a report is due, and if so, counts it as made.
    package mutating func isDue(at now: ContinuousClock.Instant = .now) -> Bool {
        if let last, last.duration(to: now) < Self.interval { return false }
        last = now
        return true
    }
}
