import AllocationCount
import Foundation

/// The cost of one operation.
struct Cost {
    /// CPU time of all threads.
    var microseconds: Double
    /// CPU time of this thread, in microseconds; wrong if the operations change threads.
    var onThread: Double
    /// Time, in microseconds.
    var elapsed: Double
    var allocations: Double

    /// Measures rounds of `count` operations each, after one that doesn't count.
    static func median(of rounds: Int, each count: Int, _ round: () async throws -> Void) async rethrows -> Cost {
        try await round()
        var costs: [Cost] = []
        for _ in 0..<rounds {
            let start = Instant()
            try await round()
            costs.append(start.cost(of: count))
        }
        return median(costs)
    }

    /// Measures rounds of `count` operations each, after one that doesn't count.
    static func median(of rounds: Int, each count: Int, _ round: () -> Void) -> Cost {
        round()
        let costs = (0..<rounds).map { _ in
            let start = Instant()
            round()
            return start.cost(of: count)
        }
        return median(costs)
    }

    private static func median(_ costs: [Cost]) -> Cost {
        func middle(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        return Cost(
            microseconds: middle(costs.map(\.microseconds)),
            onThread: middle(costs.map(\.onThread)),
            elapsed: middle(costs.map(\.elapsed)),
            allocations: middle(costs.map(\.allocations))
        )
    }
}

/// The clocks and the number of allocated blocks at one moment.
private struct Instant {
    private let cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    private let thread = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
    private let time = nanoseconds(CLOCK_MONOTONIC)
    private let allocations = allocation_count()

    func cost(of count: Int) -> Cost {
        let end = Instant()
        return Cost(
            microseconds: Double(end.cpu - cpu) / 1_000 / Double(count),
            onThread: Double(end.thread &- thread) / 1_000 / Double(count),
            elapsed: Double(end.time - time) / 1_000 / Double(count),
            allocations: Double(end.allocations - allocations) / Double(count)
        )
    }

    private static func nanoseconds(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
