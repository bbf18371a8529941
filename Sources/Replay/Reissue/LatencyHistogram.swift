/// Counts durations in buckets whose width grows with them, so that each is known to three digits, however many there
/// are and however far apart (the layout of HdrHistogram, https://hdrhistogram.org).
///
/// From a microsecond to an hour; what is shorter or longer counts as these.
public struct LatencyHistogram: Sendable, Hashable {
    /// Up to 2048 µs each bucket is a microsecond; from there 1024 buckets for each doubling.
    private static let halfCount = 1024
    private static let limit: Int64 = 3_600_000_000
    private var counts: [Int] = []
    private var sum: Int64 = 0

    /// How many durations were counted.
    public private(set) var count = 0
    /// The shortest, to the microsecond; zero where none was counted.
    public var shortest: Duration { .microseconds(least) }
    /// The longest, to the microsecond; zero where none was counted.
    public private(set) var longest = Duration.zero
    private var least: Int64 = 0

    /// A histogram of nothing.
    public init() {}

    /// Counts a duration.
    public mutating func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let whole = min(max(seconds, 0), Self.limit / 1_000_000)
        let micros = min(max(whole * 1_000_000 + max(attoseconds, 0) / 1_000_000_000_000, 1), Self.limit)
        let index = Self.index(of: micros)
        if index >= counts.count { counts += Array(repeating: 0, count: index + 1 - counts.count) }
        counts[index] += 1
        least = count == 0 ? micros : min(least, micros)
        longest = max(longest, .microseconds(micros))
        sum += micros
        count += 1
    }

    /// The mean; zero where none was counted.
    public var mean: Duration { count == 0 ? .zero : .microseconds(Double(sum) / Double(count)) }

    /// The duration that this part of all does not exceed: of `0.99` the 99th percentile. To three digits, rounded up.
    ///
    /// - Parameter part: 0 to 1; what is beyond counts as these.
    public func quantile(_ part: Double) -> Duration {
        let wanted = max(1, Int((min(max(part, 0), 1) * Double(count)).rounded(.up)))
        var seen = 0
        for (index, count) in counts.enumerated() {
            seen += count
            if seen >= wanted { return min(.microseconds(Self.end(of: index)), longest) }
        }
        return longest
    }

    /// Twice `halfCount` buckets without a shift, then `halfCount` for each.
    private static func index(of micros: Int64) -> Int {
        let shift = max(0, 63 - micros.leadingZeroBitCount - 10)
        return shift * halfCount + Int(micros >> Int64(shift))
    }

    /// The longest duration of a bucket, in microseconds.
    private static func end(of index: Int) -> Int64 {
        let shift = max(0, index / halfCount - 1)
        return (Int64(index - shift * halfCount) + 1) << Int64(shift) - 1
    }
}
