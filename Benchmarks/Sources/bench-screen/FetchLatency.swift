import BeagleNet
import Synchronization

/// The latency of fetches after taps of a user, with and without prefetches of the routes of each screen, in turn.
///
/// A tap fetches a screen and three parts of it. As soon as the screen is there, eight others are prefetched, which the
/// user never opens. The time until the next tap is such that some of them are in flight then.
enum FetchLatency {
    private static let rounds = 25
    private static let taps = 20
    private static let parts = 3
    private static let prefetches = 8

    private enum Mode: String, CaseIterable {
        case none = "no prefetches"
        case waiting = "prefetches"
        case eager = "prefetches that don't wait"

        var rules: ViewClient.PrefetchRules {
            var rules = ViewClient.PrefetchRules()
            if self == .eager { (rules.idleTime, rules.maxHoldTime) = (.zero, .zero) }
            return rules
        }
    }

    /// The fetches of a mode.
    private struct Measurement {
        var times: [Duration] = []
        /// The times of the fetches that began while a prefetch was in flight.
        var besidePrefetches: [Duration] = []
        var prefetches = 0

        func line(_ name: String) -> String {
            let beside = besidePrefetches.isEmpty ? "" : ", median \(Self.milliseconds(besidePrefetches, 50))"
            return """
                \(name): p50 \(Self.milliseconds(times, 50)), p99 \(Self.milliseconds(times, 99)); \(times.count) fetches, \
                \(prefetches) prefetches, \(besidePrefetches.count) fetches began while one was in flight\(beside)
                """
        }

        private static func milliseconds(_ times: [Duration], _ percent: Int) -> String {
            let thousands = times.sorted()[times.count * percent / 100] / .nanoseconds(1_000)
            return "\(thousands.rounded() / 1_000) ms"
        }
    }

    /// Measures screens of a URL, to which prefetches add a query.
    static func measure(_ url: String) async throws {
        let traffic = PrefetchTraffic()
        Beagle.dependencies.logger = .off
        Beagle.dependencies.interceptors.add(traffic)
        var measurements: [Mode: Measurement] = [:]
        // The first round opens the connections.
        for round in 0...rounds {
            for mode in Mode.allCases {
                let views = ViewClient(rules: mode.rules)
                let before = traffic.started
                var measurement = round > 1 ? measurements[mode, default: Measurement()] : Measurement()
                for tap in 0..<taps {
                    try await fetch(url, views, traffic, &measurement)
                    for number in 0..<prefetches where mode != .none {
                        let query = (url.contains("?") ? "&" : "?") + "p=\(tap * prefetches + number)"
                        views.prefetch(ScreenRequest(url + query))
                    }
                    for _ in 0..<parts { try await fetch(url, views, traffic, &measurement) }
                    try await Task.sleep(for: .milliseconds(Int.random(in: 60...180)))
                }
                views.removePrefetches()
                try await Task.sleep(for: .milliseconds(50))
                measurement.prefetches += traffic.started - before
                measurements[mode] = measurement
            }
        }
        for mode in Mode.allCases { print(measurements[mode, default: Measurement()].line(mode.rawValue)) }
    }

    private static func fetch(
        _ url: String,
        _ views: ViewClient,
        _ traffic: PrefetchTraffic,
        _ measurement: inout Measurement
    ) async throws {
        let isBeside = traffic.running > 0
        let start = ContinuousClock.now
        _ = try await views.fetch(url, as: JSONValue.self)
        let time = ContinuousClock.now - start
        measurement.times.append(time)
        if isBeside { measurement.besidePrefetches.append(time) }
    }
}

/// Counts the prefetches.
private final class PrefetchTraffic: RequestObserver, RequestObservation {
    private let starts = Atomic(0)
    private let ends = Atomic(0)

    /// The number of prefetches that were sent.
    var started: Int { starts.load(ordering: .relaxed) }
    /// The number of prefetches in flight.
    var running: Int { started - ends.load(ordering: .relaxed) }

    func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        guard operation.transfer.head.headerFields[.init("Sec-Purpose")!] != nil else { return nil }
        starts.add(1, ordering: .relaxed)
        return self
    }

    func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
        ends.add(1, ordering: .relaxed)
    }
}
