import AllocationCount
import Foundation

/// The cost of one operation: the least of some rounds, because other programs can only add to it.
struct Tally {
    var nanoseconds: Double
    var allocations: Double

    /// Measures `round`, which performs `count` operations, after one that doesn't count.
    static func of(_ count: Int, _ round: () async throws -> Void) async rethrows -> Tally {
        try await round()
        var least = Tally(nanoseconds: .infinity, allocations: .infinity)
        for _ in 0..<15 {
            let start = Moment(CLOCK_PROCESS_CPUTIME_ID)
            try await round()
            let tally = Moment(CLOCK_PROCESS_CPUTIME_ID).since(start, count)
            least.nanoseconds = min(least.nanoseconds, tally.nanoseconds)
            least.allocations = min(least.allocations, tally.allocations)
        }
        return least
    }

    static func median(of tallies: [Tally]) -> Tally {
        Tally(
            nanoseconds: tallies.map(\.nanoseconds).sorted()[tallies.count / 2],
            allocations: tallies.map(\.allocations).sorted()[tallies.count / 2]
        )
    }

    static let zero = Tally(nanoseconds: 0, allocations: 0)

    static func + (tally: Tally, other: Tally) -> Tally {
        Tally(
            nanoseconds: tally.nanoseconds + other.nanoseconds,
            allocations: tally.allocations + other.allocations
        )
    }

    static func - (tally: Tally, other: Tally) -> Tally {
        Tally(
            nanoseconds: tally.nanoseconds - other.nanoseconds,
            allocations: tally.allocations - other.allocations
        )
    }
}

/// The time of a clock, in nanoseconds, and the number of blocks allocated until then.
struct Moment {
    private let time: UInt64
    private let allocations: UInt64

    init(_ clock: clockid_t) {
        var time = timespec()
        clock_gettime(clock, &time)
        self.time = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        allocations = allocation_count()
    }

    func since(_ start: Moment, _ count: Int = 1) -> Tally {
        precondition(time >= start.time, "what was waited for has not come")
        return Tally(
            nanoseconds: Double(time - start.time) / Double(count),
            allocations: Double(allocations - start.allocations) / Double(count)
        )
    }
}
