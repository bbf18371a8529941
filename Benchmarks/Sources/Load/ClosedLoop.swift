/// Requests in a closed loop: each begins after the answer to the one before it, several of them in parallel.
protocol ClosedLoop: Sendable {
    func run(_ requests: Int, tasks: Int) async -> Outcome
}

/// The outcome of a loop.
struct Outcome: Sendable {
    /// The duration of each request, in microseconds.
    var latencies: [Int32] = []
    var bytes = 0
    var failures = 0

    mutating func add(_ result: Result<Int, any Error>, since start: UInt64) {
        switch result {
        case .success(let count): bytes += count
        case .failure(let error):
            if failures == 0 { printError("\(error)") }
            failures += 1
        }
        latencies.append(Int32(truncatingIfNeeded: (monotonicTime() - start) / 1_000))
    }

    mutating func add(_ other: Outcome) {
        latencies += other.latencies
        bytes += other.bytes
        failures += other.failures
    }
}

/// Tasks that await one answer after another.
struct TaskLoop: ClosedLoop {
    let ask: @Sendable () async throws -> Int

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
                outcome.add(.success(try await ask()), since: start)
            } catch {
                outcome.add(.failure(error), since: start)
            }
        }
        return outcome
    }
}
