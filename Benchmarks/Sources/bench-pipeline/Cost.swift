import AllocationCount
import Foundation

/// The cost of one operation: the least of some rounds, because other programs can only add to it.
struct Cost {
    var nanoseconds: Double
    var allocations: Double

    /// Measures `round`, which performs `count` operations, after one that doesn't count.
    static func of(_ count: Int, _ round: () async throws -> Void) async rethrows -> Cost {
        try await round()
        var least = Cost(nanoseconds: .infinity, allocations: .infinity)
        for _ in 0..<15 {
            let start = Moment(CLOCK_PROCESS_CPUTIME_ID)
            try await round()
            let cost = Moment(CLOCK_PROCESS_CPUTIME_ID).since(start, count)
            least.nanoseconds = min(least.nanoseconds, cost.nanoseconds)
            least.allocations = min(least.allocations, cost.allocations)
        }
        return least
    }

    static func median(of costs: [Cost]) -> Cost {
        Cost(
            nanoseconds: costs.map(\.nanoseconds).sorted()[costs.count / 2],
            allocations: costs.map(\.allocations).sorted()[costs.count / 2]
        )
    }

    static let zero = Cost(nanoseconds: 0, allocations: 0)

    static func + (cost: Cost, other: Cost) -> Cost {
        Cost(
            nanoseconds: cost.nanoseconds + other.nanoseconds,
            allocations: cost.allocations + other.allocations
        )
    }

    static func - (cost: Cost, other: Cost) -> Cost {
        Cost(
            nanoseconds: cost.nanoseconds - other.nanoseconds,
            allocations: cost.allocations - other.allocations
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

    func since(_ start: Moment, _ count: Int = 1) -> Cost {
        precondition(time >= start.time, "the event has not happened")
        return Cost(
            nanoseconds: Double(time - start.time) / Double(count),
            allocations: Double(allocations - start.allocations) / Double(count)
        )
    }
}
