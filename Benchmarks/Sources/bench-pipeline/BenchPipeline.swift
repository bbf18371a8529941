import BeagleNet
import Foundation
import Synchronization

/// Measures each client alone and beside 10,000 waiting operations, and prints one table.
@main struct BenchPipeline {
    static let active = 10_000
    static let measures = [
        "watch and leave", "run to the result", "progress event", "cancel, up to the transport's",
        "cache hit in memory",
    ]

    static func main() async throws {
        let shared = try Ours("BeagleNet", .fetchComponent)
        // For a profiler: this many runs, and nothing else.
        if let count = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }) {
            for index in 0..<count { try await shared.run(index) }
            return
        }
        let unshared = try Ours("BeagleNet, not shared", .rawRequest(.init()))
        var columns = [try await Column(shared), try await Column(unshared)]
        print("Taken off: the message, built in \(columns[0].message.text),")
        print("and the transport, which answers in \(columns[0].transport.text)\n")

        var others: [Column] = []
        // For a profile of our clients, only they are measured.
        if !CommandLine.arguments.contains("--alone") {
            others = [try await Column(OpenCombineChain()), try await Column(MiddlewareChain())]
            columns += others
        }
        print(row("", "", "alone", "beside 10,000", ["ratio"] + others.map { "x \($0.name)" }))
        for (index, measure) in measures.enumerated() {
            for column in columns {
                guard let alone = column.alone[index], let beside = column.beside[index] else { continue }
                let floors = others.map { $0.alone[index]?.nanoseconds }
                let ratios = [beside.nanoseconds / alone.nanoseconds] + floors.map { $0.map { alone.nanoseconds / $0 } }
                print(row(measure, column.name, alone.text, beside.text, ratios.map { $0.map(twoDigits) ?? "-" }))
            }
        }
    }

    /// The cost of a client's operations without the deducted part; `nil` for operations that it doesn't support.
    struct Column {
        let name: String
        let alone: [Cost?]
        let beside: [Cost?]
        /// The deducted part of the cost.
        let message: Cost
        let transport: Cost

        /// Measures a client. The costs are the least of three passes, because other programs may slow down a whole
        /// pass, or of one pass if the client takes minutes.
        init(_ client: some MeasuredClient) async throws {
            name = client.name
            let passes = client.count(beside: active) < 1_000 ? 1 : 3
            var (alone, beside) = ([Cost?](), [Cost?]())
            var (message, transport) = (try await client.message(), try await client.transport())
            for _ in 0..<passes {
                message = min(message, try await client.message())
                transport = min(transport, try await client.transport())
                alone = least(alone, try await Self.costs(client, beside: 0))
                let cancels = try (0..<active).map { try client.wait(-1 - $0) }
                beside = least(beside, try await Self.costs(client, beside: active))
                for cancel in cancels { cancel() }
            }
            let base = message + transport
            let takenOff = [base, base, .zero, .zero, message]
            self.alone = zip(alone, takenOff).map { cost, off in cost.map { $0 - off } }
            self.beside = zip(beside, takenOff).map { cost, off in cost.map { $0 - off } }
            (self.message, self.transport) = (message, transport)
        }

        /// Returns the costs in the order of `measures`.
        private static func costs(_ client: some MeasuredClient, beside active: Int) async throws -> [Cost?] {
            let count = client.count(beside: active)
            let watch = try await Cost.of(count) {
                for index in 0..<count { try client.watch(index) }
            }
            let run = try await Cost.of(count) {
                for index in 0..<count { try await client.run(index) }
            }
            let hit = try await hit(client, count)
            return [watch, run, try await progress(client), try cancel(client, count), hit]
        }

        private static func hit(_ client: some MeasuredClient, _ count: Int) async throws -> Cost? {
            guard let hit = client.hit else { return nil }
            // Requests with negative numbers store the responses.
            for index in 1...64 { try await hit(-index) }
            return try await .of(count) {
                for index in 0..<count { try await hit(index) }
            }
        }

        private static func progress(_ client: some MeasuredClient) async throws -> Cost? {
            guard let progress = client.progress else { return nil }
            return try await .of(InstantTransport.events) { try progress() }
        }

        /// Returns the median of single cancels, in wall-clock time. They run on the caller's thread.
        private static func cancel(_ client: some MeasuredClient, _ count: Int) throws -> Cost {
            var costs: [Cost] = []
            for index in 0..<min(count, 5_000) {
                let cancel = try client.wait(index)
                let start = Moment(CLOCK_MONOTONIC)
                cancel()
                costs.append(InstantTransport.cancelled.withLock { $0 }.since(start))
            }
            return .median(of: costs)
        }
    }

    private static func row(
        _ measure: String,
        _ name: String,
        _ alone: String,
        _ beside: String,
        _ ratios: [String]
    ) -> String {
        measure.padded(32) + name.padded(24) + alone.padded(22) + beside.padded(22) + ratios.map { $0.padded(24) }.joined()
    }
}

private func min(_ one: Cost, _ other: Cost) -> Cost {
    Cost(
        nanoseconds: Swift.min(one.nanoseconds, other.nanoseconds),
        allocations: Swift.min(one.allocations, other.allocations)
    )
}

private func least(_ ones: [Cost?], _ others: [Cost?]) -> [Cost?] {
    if ones.isEmpty { return others }
    return zip(ones, others).map { one, other in one.flatMap { one in other.map { min(one, $0) } } }
}

private func twoDigits(_ number: Double) -> String { String(format: "%.2f", number) }

extension Cost {
    fileprivate var text: String { "\(Int(nanoseconds)) ns, \(Int(allocations.rounded())) alloc" }
}

extension String {
    fileprivate func padded(_ width: Int) -> String { padding(toLength: width, withPad: " ", startingAt: 0) }
}
