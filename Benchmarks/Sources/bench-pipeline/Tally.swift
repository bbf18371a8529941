import AllocationCount
import Foundation

/// What one operation costs: the median of five rounds.
struct Tally {
    let nanoseconds: Double
    let allocations: Double

    /// Measures `round`, which performs `count` operations.
    static func of(_ count: Int, _ round: () async throws -> Void) async rethrows -> Tally {
        try await round()
        var nanoseconds: [Double] = []
        var allocations: [Double] = []
        for _ in 0..<5 {
            let (allocated, time) = (allocation_count(), processorTime())
            try await round()
            nanoseconds.append(Double(processorTime() - time) / Double(count))
            allocations.append(Double(allocation_count() - allocated) / Double(count))
        }
        return Tally(nanoseconds: nanoseconds.sorted()[2], allocations: allocations.sorted()[2])
    }

    /// CPU time of the process, in nanoseconds.
    private static func processorTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
