import BeagleNet
import Foundation
import Synchronization

/// Measures each contestant alone and beside 10,000 operations that wait, and prints one table.
@main struct BenchPipeline {
    static let active = 10_000
    static let whats = [
        "watch and leave", "run to the result", "progress event", "cancel, up to the transport's",
        "cache hit in memory",
    ]

    static func main() async throws {
        let shared = try Ours("BeagleNet", .fetchComponent)
        // To be looked into by a profiler: so many runs, and nothing else.
        if let count = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }) {
            for index in 0..<count { try await shared.run(index) }
            return
        }
        let unshared = try Ours("BeagleNet, not shared", .rawRequest(.init()))
        var columns = [try await Column(shared), try await Column(unshared)]
        print("Taken off: the message, built in \(columns[0].message.text),")
        print("and the transport, which answers in \(columns[0].transport.text)\n")

        var others: [Column] = []
        // To look into what ours do, they are measured by themselves.
        if !CommandLine.arguments.contains("--alone") {
            others = [try await Column(Ladder()), try await Column(Chain())]
            columns += others
        }
        print(row("", "", "alone", "beside 10,000", ["ratio"] + others.map { "x \($0.name)" }))
        for (index, what) in whats.enumerated() {
            for column in columns {
                guard let alone = column.alone[index], let beside = column.beside[index] else { continue }
                let floors = others.map { $0.alone[index]?.nanoseconds }
                let ratios = [beside.nanoseconds / alone.nanoseconds] + floors.map { $0.map { alone.nanoseconds / $0 } }
                print(row(what, column.name, alone.text, beside.text, ratios.map { $0.map(twoDigits) ?? "-" }))
            }
        }
    }

    /// The cost of a contestant's operations without the deducted part; `nil` for operations that it doesn't have.
    struct Column {
        let name: String
        let alone: [Tally?]
        let beside: [Tally?]
        /// The deducted part of the cost.
        let message: Tally
        let transport: Tally

        /// The least of three passes: a machine that is shared may be slow for as long as one. One does for who takes minutes.
        init(_ contestant: some Contestant) async throws {
            name = contestant.name
            let passes = contestant.count(beside: active) < 1_000 ? 1 : 3
            var (alone, beside) = ([Tally?](), [Tally?]())
            var (message, transport) = (try await contestant.message(), try await contestant.transport())
            for _ in 0..<passes {
                message = min(message, try await contestant.message())
                transport = min(transport, try await contestant.transport())
                alone = least(alone, try await Self.tallies(contestant, beside: 0))
                let cancels = try (0..<active).map { try contestant.wait(-1 - $0) }
                beside = least(beside, try await Self.tallies(contestant, beside: active))
                for cancel in cancels { cancel() }
            }
            let base = message + transport
            let takenOff = [base, base, .zero, .zero, message]
            self.alone = zip(alone, takenOff).map { tally, off in tally.map { $0 - off } }
            self.beside = zip(beside, takenOff).map { tally, off in tally.map { $0 - off } }
            (self.message, self.transport) = (message, transport)
        }

        /// In the order of `whats`.
        private static func tallies(_ contestant: some Contestant, beside active: Int) async throws -> [Tally?] {
            let count = contestant.count(beside: active)
            let watch = try await Tally.of(count) {
                for index in 0..<count { try contestant.watch(index) }
            }
            let run = try await Tally.of(count) {
                for index in 0..<count { try await contestant.run(index) }
            }
            let hit = try await hit(contestant, count)
            return [watch, run, try await progress(contestant), try cancel(contestant, count), hit]
        }

        private static func hit(_ contestant: some Contestant, _ count: Int) async throws -> Tally? {
            guard let hit = contestant.hit else { return nil }
            // Negative ones are those that are stored first.
            for index in 1...64 { try await hit(-index) }
            return try await .of(count) {
                for index in 0..<count { try await hit(index) }
            }
        }

        private static func progress(_ contestant: some Contestant) async throws -> Tally? {
            guard let progress = contestant.progress else { return nil }
            return try await .of(InstantTransport.events) { try progress() }
        }

        /// The median of single ones, by the clock on the wall: up to the transport all happens on the caller's thread.
        private static func cancel(_ contestant: some Contestant, _ count: Int) throws -> Tally {
            var tallies: [Tally] = []
            for index in 0..<min(count, 5_000) {
                let cancel = try contestant.wait(index)
                let start = Moment(CLOCK_MONOTONIC)
                cancel()
                tallies.append(InstantTransport.cancelled.withLock { $0 }.since(start))
            }
            return .median(of: tallies)
        }
    }

    private static func row(
        _ what: String,
        _ name: String,
        _ alone: String,
        _ beside: String,
        _ ratios: [String]
    ) -> String {
        what.padded(32) + name.padded(24) + alone.padded(22) + beside.padded(22) + ratios.map { $0.padded(24) }.joined()
    }
}

private func min(_ one: Tally, _ other: Tally) -> Tally {
    Tally(
        nanoseconds: Swift.min(one.nanoseconds, other.nanoseconds),
        allocations: Swift.min(one.allocations, other.allocations)
    )
}

private func least(_ ones: [Tally?], _ others: [Tally?]) -> [Tally?] {
    if ones.isEmpty { return others }
    return zip(ones, others).map { one, other in one.flatMap { one in other.map { min(one, $0) } } }
}

private func twoDigits(_ number: Double) -> String { String(format: "%.2f", number) }

extension Tally {
    fileprivate var text: String { "\(Int(nanoseconds)) ns, \(Int(allocations.rounded())) alloc" }
}

extension String {
    fileprivate func padded(_ width: Int) -> String { padding(toLength: width, withPad: " ", startingAt: 0) }
}
