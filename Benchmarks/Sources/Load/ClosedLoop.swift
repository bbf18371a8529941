/// Tasks that each begin a request as soon as the one before has its answer.
struct ClosedLoop: Sendable {
    let ask: @Sendable () async throws -> Int

    struct Outcome: Sendable {
        /// Microseconds of each request.
        var latencies: [Int32] = []
        var bytes = 0
        var failures = 0

        mutating func add(_ other: Outcome) {
            latencies += other.latencies
            bytes += other.bytes
            failures += other.failures
        }
    }

    func run(_ requests: Int, tasks: Int) async -> Outcome {
        await withTaskGroup(of: Outcome.self) { group in
            for task in 0..<min(tasks, requests) {
                let share = requests / tasks + (task < requests % tasks ? 1 : 0)
                group.addTask { await run(share) }
            }
            var sum = Outcome()
            for await outcome in group { sum.add(outcome) }
            return sum
        }
    }

    private func run(_ requests: Int) async -> Outcome {
        var outcome = Outcome()
        outcome.latencies.reserveCapacity(requests)
        for _ in 0..<requests {
            let start = monotonicTime()
            do {
                outcome.bytes += try await ask()
            } catch {
                if outcome.failures == 0 { printError("\(error)") }
                outcome.failures += 1
            }
            outcome.latencies.append(Int32(truncatingIfNeeded: (monotonicTime() - start) / 1_000))
        }
        return outcome
    }
}
