/// How long answers from a recording take. Waiting for the head and receiving the body are waits of their own: a body
/// that took long comes in pieces.
public struct ReplayTiming: Sendable, Hashable {
    private enum Pace: Sendable, Hashable {
        case none, fixed(Duration)
        case recorded(scale: Double, maxGap: Duration?)
    }

    private let pace: Pace
    private var spread = 0.0
    private var seed: UInt64 = 0

    /// Everything at once: the default.
    public static let none = ReplayTiming(pace: .none)

    /// As long as it took when it was recorded.
    ///
    /// - Parameters:
    ///   - scale: 2 takes twice as long, 0.5 half, 0 no time at all; below 0 counts as 0.
    ///   - maxGap: the longest that nothing comes; as long as it took where nil.
    public static func recorded(scale: Double = 1, maxGap: Duration? = nil) -> ReplayTiming {
        ReplayTiming(pace: .recorded(scale: scale > 0 && scale.isFinite ? scale : 0, maxGap: maxGap))
    }

    /// The same wait before each answer, and none after its head.
    public static func fixed(_ wait: Duration) -> ReplayTiming {
        ReplayTiming(pace: .fixed(max(wait, .zero)))
    }

    /// This timing, of which each answer takes more or less, always the same for one seed.
    ///
    /// - Parameters:
    ///   - spread: how much at most, as a part of its time: 0.2 is a fifth more or less. 0 to 1.
    ///   - seed: any number.
    public func jittered(by spread: Double, seed: UInt64) -> ReplayTiming {
        var timing = self
        timing.spread = min(max(spread, 0), 1)
        timing.seed = seed
        return timing
    }

    /// How long an answer waits.
    struct Waits: Sendable, Hashable {
        /// Before the head.
        var head = Duration.zero
        /// Between the head and the last byte.
        var body = Duration.zero
        /// What the time between two pieces is multiplied with, where the recording has it.
        var scale = 0.0
        /// The longest that nothing comes.
        var maxGap: Duration?

        func cut(_ wait: Duration) -> Duration { maxGap.map { min(wait, $0) } ?? wait }
    }

    /// The waits of one entry.
    ///
    /// - Parameter index: its place in the recording, by which its jitter differs from others'.
    func waits(for timings: LogTimings, index: Int) -> Waits {
        let factor = 1 + spread * Self.fraction(seed, index)
        switch pace {
        case .none: return Waits()
        case .fixed(let wait): return Waits(head: wait * factor)
        case .recorded(let scale, let maxGap):
            let body = timings.receive ?? .zero
            var waits = Waits(body: body * (scale * factor), scale: scale * factor, maxGap: maxGap)
            waits.head = waits.cut((timings.total - body) * (scale * factor))
            return waits
        }
    }

    /// A number in -1...1 that seed and index decide (SplitMix64).
    private static func fraction(_ seed: UInt64, _ index: Int) -> Double {
        var bits = seed &+ UInt64(truncatingIfNeeded: index + 1) &* 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        bits ^= bits >> 31
        return Double(bits >> 11) / Double(1 << 52) - 1
    }
}
