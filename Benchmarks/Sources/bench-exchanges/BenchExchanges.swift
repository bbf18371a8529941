import AllocationCount
import BeagleNetExchanges
import Foundation

import struct BeagleNetExchanges.Operation

/// What an operation costs in a ladder of four exchanges, alone and beside others that wait: hosted in our pipeline above a
/// transport that answers at once, and over a client of its own.
@main struct BenchExchanges {
    static let actives = [0, 1_000, 3_000]

    static func main() async throws {
        let doNothing: [any Exchange] = (0..<4).map { _ in DoNothingExchange() }
        let mixed: [any Exchange] = [LoggingExchange(), DoNothingExchange(), DedupExchange(), CacheExchange()]
        // To be looked into by a profiler: so many runs, and nothing else.
        if let count = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }) {
            let hosted = try Hosted(mixed, active: 0)
            for index in 0..<count { try await hosted.run(index) }
            return
        }
        print(row("CPU per operation", actives.map { "beside \($0)" }))
        let pipeline = try await report("pipeline, no ladder") { try Hosted(nil, active: $0) }
        let ladder = try await report("pipeline, 4 that do nothing") { try Hosted(doNothing, active: $0) }
        let ours = try await report("pipeline, log, nothing, dedup, cache") { try Hosted(mixed, active: $0) }
        _ = try await report("client, log, nothing, dedup, instant") { try Own(active: $0) }
        print()
        for (name, tallies) in [("4 that do nothing", ladder), ("log, nothing, dedup, cache", ours)] {
            let costs = zip(tallies, pipeline).map { String(format: "%.2f µs", ($0.micros - $1.micros)) }
            print(row("ladder of \(name)", costs))
        }
    }

    private static func report(_ name: String, _ make: (Int) throws -> any Contestant) async throws -> [Tally] {
        var tallies: [Tally] = []
        for active in actives {
            let contestant = try make(active)
            tallies.append(try await .of { try await contestant.run($0) })
            contestant.end()
        }
        print(row(name, tallies.map(\.text)))
        return tallies
    }

    private static func row(_ name: String, _ texts: [String]) -> String {
        ([name.padding(toLength: 40, withPad: " ", startingAt: 0)]
            + texts.map { $0.padding(toLength: 24, withPad: " ", startingAt: 0) })
            .joined()
    }
}

protocol Contestant {
    func run(_ index: Int) async throws
    func end()
}

/// What one operation costs: the least of fifteen rounds, since what else the machine does can only add to it.
struct Tally {
    var micros: Double
    var allocations: Double
    var text: String { String(format: "%.2f µs, %.0f alloc", micros, allocations) }

    static func of(_ body: (Int) async throws -> Void) async rethrows -> Tally {
        let count = 20_000
        var least = Tally(micros: .infinity, allocations: .infinity)
        for round in 0...15 {
            let (start, allocations) = (cpu(), allocation_count())
            for index in 0..<count { try await body(index) }
            if round == 0 { continue }
            least.micros = min(least.micros, (cpu() - start) / Double(count) * 1_000_000)
            least.allocations = min(least.allocations, Double(allocation_count() - allocations) / Double(count))
        }
        return least
    }

    private static func cpu() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    }
}
