extension ReplayTransport {
    /// The timing of responses from a recording.
    ///
    /// The head and the body are delayed separately. A slow body arrives in pieces.
    public struct Timing: Sendable, Hashable {
        private enum Mode: Sendable, Hashable {
            case none, fixed(Duration)
            case recorded(scale: Double, maxGap: Duration?)
        }

        private let mode: Mode
        private var spread = 0.0
        private var seed: UInt64 = 0

        /// Responses without delay, the default.
        public static let none = Timing(mode: .none)

        /// Returns a timing with the recorded durations.
        ///
        /// - Parameters:
        ///   - scale: a factor: 2 is twice as slow, 0.5 twice as fast, 0 immediate; negative values count as 0.
        ///   - maxGap: the maximum time without data; unlimited if `nil`.
        public static func recorded(scale: Double = 1, maxGap: Duration? = nil) -> Timing {
            Timing(mode: .recorded(scale: scale > 0 && scale.isFinite ? scale : 0, maxGap: maxGap))
        }

        /// Returns a timing with the same delay before each response, and none after its head.
        public static func fixed(_ wait: Duration) -> Timing {
            Timing(mode: .fixed(max(wait, .zero)))
        }

        /// Returns this timing with random variations, which are reproducible for a seed.
        ///
        /// - Parameters:
        ///   - spread: the maximum variation as a fraction: 0.2 is 20 % more or less. The range is 0 to 1.
        ///   - seed: the seed, any number.
        public func jittered(by spread: Double, seed: UInt64) -> Timing {
            var timing = self
            timing.spread = min(max(spread, 0), 1)
            timing.seed = seed
            return timing
        }

        /// The delays of a response.
        struct Delays: Sendable, Hashable {
            /// The delay before the head.
            var head = Duration.zero
            /// The time between the head and the last byte.
            var body = Duration.zero
            /// The factor for recorded intervals between pieces.
            var scale = 0.0
            /// The maximum time without data.
            var maxGap: Duration?

            func clamped(_ wait: Duration) -> Duration { maxGap.map { min(wait, $0) } ?? wait }
        }

        /// Returns the delays of an entry.
        ///
        /// - Parameter index: the index of the entry in the recording, which varies the jitter.
        func delays(for timings: LogEntry.Timings, index: Int) -> Delays {
            let factor = 1 + spread * Self.fraction(seed, index)
            switch mode {
            case .none: return Delays()
            case .fixed(let wait): return Delays(head: wait * factor)
            case .recorded(let scale, let maxGap):
                let body = timings.receive ?? .zero
                var delays = Delays(body: body * (scale * factor), scale: scale * factor, maxGap: maxGap)
                delays.head = delays.clamped((timings.total - body) * (scale * factor))
                return delays
            }
        }

        /// Returns a number in -1...1 determined by seed and index (SplitMix64).
        private static func fraction(_ seed: UInt64, _ index: Int) -> Double {
            var bits = seed &+ UInt64(truncatingIfNeeded: index + 1) &* 0x9E37_79B9_7F4A_7C15
            bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
            bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
            bits ^= bits >> 31
            return Double(bits >> 11) / Double(1 << 52) - 1
        }
    }
}
