extension Reissuer {
    /// A histogram of durations with three significant digits.
    ///
    /// The width of its buckets grows with the durations, as in HdrHistogram (https://hdrhistogram.org), so memory is
    /// independent of their number. The range is one microsecond to one hour; other durations are clamped.
    public struct LatencyHistogram: Sendable, Hashable {
        /// The number of buckets for each doubling. Up to 2048 µs, each bucket is one microsecond wide.
        private static let halfCount = 1024
        private static let limit: Int64 = 3_600_000_000
        private var counts: [Int] = []
        private var sum: Int64 = 0

        /// The number of durations.
        public private(set) var count = 0
        /// The shortest duration, with microsecond precision; zero if the histogram is empty.
        public var shortest: Duration { .microseconds(least) }
        /// The longest duration, with microsecond precision; zero if the histogram is empty.
        public private(set) var longest = Duration.zero
        private var least: Int64 = 0

        /// Creates an empty histogram.
        public init() {}

        /// Adds a duration.
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

        /// The mean duration; zero if the histogram is empty.
        public var mean: Duration { count == 0 ? .zero : .microseconds(Double(sum) / Double(count)) }

        /// Returns the duration that a fraction of all durations doesn't exceed, such as 0.99 for the 99th percentile.
        ///
        /// The result is rounded up to three digits.
        ///
        /// - Parameter part: the fraction, from 0 to 1; other values are clamped.
        public func quantile(_ part: Double) -> Duration {
            let wanted = max(1, Int((min(max(part, 0), 1) * Double(count)).rounded(.up)))
            var seen = 0
            for (index, count) in counts.enumerated() {
                seen += count
                if seen >= wanted { return min(.microseconds(Self.end(of: index)), longest) }
            }
            return longest
        }

        /// Returns the index of a bucket. There are twice `halfCount` buckets without a shift, then `halfCount` for
        /// each shift.
        private static func index(of micros: Int64) -> Int {
            let shift = max(0, 63 - micros.leadingZeroBitCount - 10)
            return shift * halfCount + Int(micros >> Int64(shift))
        }

        /// Returns the longest duration in a bucket, in microseconds.
        private static func end(of index: Int) -> Int64 {
            let shift = max(0, index / halfCount - 1)
            return (Int64(index - shift * halfCount) + 1) << Int64(shift) - 1
        }
    }
}
