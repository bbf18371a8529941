import BeagleNet

/// The latency of fetches while prefetches are running, beside that without any, in turn.
enum FetchLatency {
    private static let rounds = 20
    private static let fetches = 500

    /// Measures screens of a URL, to which prefetches add a query.
    static func measure(_ url: String) async throws {
        Beagle.dependencies.logger = .off
        var latencies: [Bool: [Duration]] = [:]
        // The first round opens the connections.
        for round in 0...rounds {
            for isPrefetching in [false, true] {
                let times = try await times(url, isPrefetching)
                if round > 0 { latencies[isPrefetching, default: []] += times }
            }
        }
        let (without, with) = (latencies[false, default: []].sorted(), latencies[true, default: []].sorted())
        for (name, percent) in [("p50", 50), ("p99", 99)] {
            let index = without.count * percent / 100
            print("\(name): \(without[index]) without prefetches, \(with[index]) with, x \(with[index] / without[index])")
        }
    }

    /// The durations of fetches that follow one another.
    private static func times(_ url: String, _ isPrefetching: Bool) async throws -> [Duration] {
        let views = ViewClient()
        let prefetches = Task {
            var number = 0
            while isPrefetching, !Task.isCancelled {
                while views.prefetch(ScreenRequest("\(url)?prefetch=\(number)")) { number += 1 }
                do { try await Task.sleep(for: .milliseconds(1)) } catch { return number }
            }
            return number
        }
        var times: [Duration] = []
        for _ in 0..<fetches {
            let start = ContinuousClock.now
            _ = try await views.fetch(url, as: JSONValue.self)
            times.append(.now - start)
        }
        prefetches.cancel()
        let count = await prefetches.value
        if isPrefetching, count < fetches / 10 { print("only \(count) prefetches ran beside \(fetches) fetches") }
        return times
    }
}
