import BeagleNet

/// The latency of fetches of a user who taps, without and with prefetches of what each screen leads to, in turn.
///
/// A tap fetches a screen and three parts of it. Then, the screen prefetches eight others, which nobody opens, while the
/// user reads it. The time until the next tap is such that some of them are in flight then.
enum FetchLatency {
    private static let rounds = 40
    private static let taps = 20
    private static let fetches = 4
    private static let prefetches = 8

    /// The fetches of one configuration.
    private struct Measurement {
        var times: [Duration] = []
        /// The times of the fetches that began while a prefetch was in flight.
        var besidePrefetches: [Duration] = []

        func percentile(_ percent: Int) -> Duration { times.sorted()[times.count * percent / 100] }
    }

    /// Measures screens of a URL, to which prefetches add a query.
    static func measure(_ url: String) async throws {
        let traffic = PrefetchTraffic()
        Beagle.dependencies.logger = .off
        Beagle.dependencies.interceptors.add(traffic)
        var (without, with) = (Measurement(), Measurement())
        var random = SystemRandomNumberGenerator()
        // The first round opens the connections.
        for round in 0...rounds {
            if round == 1 { (without, with, traffic.started) = (Measurement(), Measurement(), 0) }
            for isPrefetching in [false, true] {
                let views = ViewClient()
                for tap in 0..<taps {
                    var measurement = isPrefetching ? with : without
                    try await self.tap(url, views, traffic, &measurement)
                    if isPrefetching { with = measurement } else { without = measurement }
                    for number in 0..<prefetches where isPrefetching {
                        views.prefetch(ScreenRequest("\(url)\(url.contains("?") ? "&" : "?")p=\(tap * prefetches + number)"))
                    }
                    try await Task.sleep(for: .milliseconds(Int.random(in: 60...180, using: &random)))
                }
                views.removePrefetches()
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        for percent in [50, 99] {
            let (one, other) = (without.percentile(percent), with.percentile(percent))
            print("p\(percent): \(one) without prefetches, \(other) with, x \(other / one)")
        }
        let beside = with.besidePrefetches.sorted()
        print("\(with.times.count) fetches, \(traffic.started) prefetches sent")
        print("\(beside.count) fetches began beside a prefetch, median \(beside.isEmpty ? .zero : beside[beside.count / 2])")
    }

    private static func tap(
        _ url: String,
        _ views: ViewClient,
        _ traffic: PrefetchTraffic,
        _ measurement: inout Measurement
    ) async throws {
        for _ in 0..<fetches {
            let isBeside = traffic.running > 0
            let start = ContinuousClock.now
            _ = try await views.fetch(url, as: JSONValue.self)
            let time = ContinuousClock.now - start
            measurement.times.append(time)
            if isBeside { measurement.besidePrefetches.append(time) }
        }
    }
}

/// Counts the prefetches.
private final class PrefetchTraffic: RequestObserver, RequestObservation {
    private let counts = Lock((started: 0, running: 0))

    var running: Int { counts.withLock { $0.running } }
    var started: Int {
        get { counts.withLock { $0.started } }
        set { counts.withLock { $0.started = newValue } }
    }

    func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        guard operation.transfer.head.headerFields[.init("Sec-Purpose")!] != nil else { return nil }
        counts.withLock { $0 = ($0.started + 1, $0.running + 1) }
        return self
    }

    func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
        counts.withLock { $0.running -= 1 }
    }
}
