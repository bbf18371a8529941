public import BeagleNet
import BeagleNetHTTP

extension Reissuer {
    /// The report of a load test that sent a recording to a server.
    public struct LoadReport: Sendable {
        /// The latencies of responses, measured from the scheduled start of their requests.
        ///
        /// Failed requests are not included.
        public private(set) var latency = LatencyHistogram()
        /// The latencies by kind of request: the name of a `NetworkOperation.Kind`, or `request` if the recording has
        /// none.
        public private(set) var latencyByKind: [String: LatencyHistogram] = [:]
        /// The number of responses by status.
        public private(set) var statuses: [Int: Int] = [:]
        /// The number of requests without a response, by kind of error.
        public private(set) var errors: [NetworkError.Kind: Int] = [:]
        /// The error of the first request without a response.
        public private(set) var error: NetworkError?
        /// The entries that were not sent.
        public let skipped: [Entry]
        /// The time from the first request to the last response.
        public internal(set) var duration = Duration.zero

        init(skipped: [Entry]) {
            self.skipped = skipped
        }

        /// The number of responses per second.
        public var throughput: Double { duration > .zero ? Double(latency.count) / (duration / .seconds(1)) : 0 }

        /// The number of requests without a response.
        public var failed: Int { errors.values.reduce(0, +) }

        mutating func add(_ result: Result<Int, NetworkError>, _ kind: String?, _ latency: Duration) {
            switch result {
            case .success(let status):
                statuses[status, default: 0] += 1
                self.latency.add(latency)
                latencyByKind[kind ?? "request", default: LatencyHistogram()].add(latency)
            case .failure(let error):
                errors[error.kind, default: 0] += 1
                if self.error == nil { self.error = error }
            }
        }
    }
}

extension Reissuer.LoadReport {
    private static let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)]

    /// The report as a JSON object, with durations in milliseconds.
    public var json: JSONValue {
        [
            "answers": .integer(Int64(latency.count)), "failed": .integer(Int64(failed)),
            "skipped": .array(
                skipped.map { entry in
                    ["method": .string(entry.method), "url": .string(entry.url), "reason": .string(entry.reason)]
                }
            ),
            "durationMs": .number(duration / .milliseconds(1)), "perSecond": .number(throughput),
            "statuses": counts(statuses.map { (String($0), $1) }),
            "errors": counts(errors.map { ($0.rawValue, $1) }),
            "latencyMs": Self.json(latency), "latencyMsByKind": .object(latencyByKind.mapValues(Self.json)),
        ]
    }

    private func counts(_ pairs: [(String, Int)]) -> JSONValue {
        .object(Dictionary(pairs) { $1 }.mapValues { .integer(Int64($0)) })
    }

    private static func json(_ histogram: Reissuer.LatencyHistogram) -> JSONValue {
        var members: [String: JSONValue] = [
            "count": .integer(Int64(histogram.count)), "min": .number(histogram.shortest / .milliseconds(1)),
            "mean": .number(histogram.mean / .milliseconds(1)), "max": .number(histogram.longest / .milliseconds(1)),
        ]
        for (name, part) in quantiles { members[name] = .number(histogram.quantile(part) / .milliseconds(1)) }
        return .object(members)
    }
}

extension Reissuer.LoadReport: CustomStringConvertible {
    /// The responses, throughput, statuses and errors, with a table of latencies by kind.
    public var description: String {
        var lines = [
            "\(counted(latency.count, "response")) in \(Self.text(duration)), \(Int(throughput.rounded())) per second"
        ]
        lines += statuses.sorted { $0.key < $1.key }.map { "  status \($0.key): \($0.value)" }
        lines += errors.sorted { $0.key.rawValue < $1.key.rawValue }.map { "  failed, \($0.key.rawValue): \($0.value)" }
        if !skipped.isEmpty { lines.append("  skipped: \(skipped.count)") }
        for entry in skipped { lines += ["skipped  \(entry.title)", "  \(entry.reason)"] }
        let columns = ["", "count", "min"] + Self.quantiles.map(\.0) + ["max"]
        var rows = [columns] + latencyByKind.sorted { $0.key < $1.key }.map(Self.row)
        if latencyByKind.count > 1 { rows.append(Self.row("all", latency)) }
        if latency.count > 0 { lines += Self.table(rows) }
        return lines.joined(separator: "\n")
    }

    private static func row(_ name: String, _ histogram: Reissuer.LatencyHistogram) -> [String] {
        let durations =
            [histogram.shortest] + quantiles.map { histogram.quantile($0.1) } + [histogram.longest]
        return [name, String(histogram.count)] + durations.map(text)
    }

    private static func table(_ rows: [[String]]) -> [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + padding : padding + cell.0
            }.joined(separator: "  ")
        }
    }

    /// Formats a duration with three digits: `1.23 ms`, `12.3 s`.
    private static func text(_ duration: Duration) -> String {
        let micros = duration / .microseconds(1)
        let (value, unit) = micros >= 1e6 ? (micros / 1e6, "s") : (micros / 1e3, "ms")
        let places = value >= 100 ? 1.0 : value >= 10 ? 10 : 100
        let rounded = (value * places).rounded() / places
        return places == 1 ? "\(Int(rounded)) \(unit)" : "\(rounded) \(unit)"
    }
}

extension Reissuer.Entry {
    /// The reason why the entry was not sent.
    fileprivate var reason: String {
        if case .skipped(let reason) = outcome { return reason }
        return ""
    }
}
