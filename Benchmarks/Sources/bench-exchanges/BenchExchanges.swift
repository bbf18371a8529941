import AllocationCount
import BeagleNetExchanges
import Foundation

import struct BeagleNetExchanges.Operation

/// The cost of an operation in a chain of four exchanges, alone and beside others that wait: hosted in our pipeline
/// above a transport that responds immediately, in the client of exchanges, and in a client on publishers as the seed
/// describes it.
@main struct BenchExchanges {
    static let actives = [0, 1_000, 3_000]

    private static var doNothing: [any Exchange] { (0..<4).map { _ in DoNothingExchange() } }
    /// New exchanges, because some have state.
    private static var mixed: [any Exchange] {
        [LoggingExchange(), DoNothingExchange(), DedupExchange(), CacheExchange()]
    }

    static func main() async throws {
        // For a profiler: this many runs, and nothing else.
        if let count = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }) {
            let hosted = try Hosted(mixed, active: 0)
            for index in 0..<count { try await hosted.run(index) }
            return
        }
        print(row("CPU per operation", actives.map { "beside \($0)" }))
        let pipeline = try await report("pipeline, no exchanges") { try Hosted(nil, active: $0) }
        let hosted = try await report("pipeline, 4 that do nothing") { try Hosted(doNothing, active: $0) }
        let hostedMixed = try await report("pipeline, log, nothing, dedup, cache") { try Hosted(mixed, active: $0) }
        let own = try await report("client, 4 that do nothing, instant") { Own(doNothing, active: $0) }
        let ownMixed = try await report("client, log, nothing, dedup, cache, instant") { Own(mixed, active: $0) }
        let seed = try await report("seed, 4 that do nothing, instant") { Seed(.nothing, active: $0) }
        let seedMixed = try await report("seed, log, nothing, dedup, cache, instant") { Seed(.mixed, active: $0) }
        print()
        for (name, costs) in [("4 that do nothing", hosted), ("log, nothing, dedup, cache", hostedMixed)] {
            let costs = zip(costs, pipeline).map { String(format: "%.2f µs", ($0.micros - $1.micros)) }
            print(row("chain of \(name)", costs))
        }
        print()
        for (name, ours, theirs) in [
            ("pipeline : seed, 4 that do nothing", hosted, seed),
            ("pipeline : seed, log, ...", hostedMixed, seedMixed),
            ("client : seed, 4 that do nothing", own, seed),
            ("client : seed, log, ...", ownMixed, seedMixed),
        ] {
            print(row(name, zip(ours, theirs).map { String(format: "%.4f", $0.micros / $1.micros) }))
        }
    }

    private static func report(_ name: String, _ make: (Int) throws -> any MeasuredClient) async throws -> [Cost] {
        var costs: [Cost] = []
        for active in actives {
            let client = try make(active)
            costs.append(try await .of(client.count, client.rounds) { try await client.run($0) })
            client.end()
        }
        print(row(name, costs.map(\.text)))
        return costs
    }

    private static func row(_ name: String, _ texts: [String]) -> String {
        ([name.padding(toLength: 44, withPad: " ", startingAt: 0)]
            + texts.map { $0.padding(toLength: 24, withPad: " ", startingAt: 0) })
            .joined()
    }
}

/// A client whose operations are measured.
protocol MeasuredClient {
    /// The number of operations in a round, and of rounds.
    var count: Int { get }
    var rounds: Int { get }

    func run(_ index: Int) async throws
    func end()
}

extension MeasuredClient {
    var count: Int { 20_000 }
    var rounds: Int { 15 }
}

/// The cost of one operation: the least of some rounds, because other programs can only add to it.
struct Cost {
    var micros: Double
    var allocations: Double
    var text: String { String(format: "%.2f µs, %.0f alloc", micros, allocations) }

    static func of(_ count: Int, _ rounds: Int, _ body: (Int) async throws -> Void) async rethrows -> Cost {
        var least = Cost(micros: .infinity, allocations: .infinity)
        for round in 0...rounds {
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
