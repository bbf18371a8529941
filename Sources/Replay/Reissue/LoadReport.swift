public import BeagleNet

/// How a server did while a recording was sent to it.
public struct LoadReport: Sendable {
    /// How long answers took from when their messages should have gone out; of those that failed nothing is in it.
    public private(set) var latency = LatencyHistogram()
    /// The same by kind of request: the name of a `NetworkOperation.Kind`, `request` where the recording does not say.
    public private(set) var latencyByKind: [String: LatencyHistogram] = [:]
    /// How many answers had a status.
    public private(set) var statuses: [Int: Int] = [:]
    /// How many messages had no answer, by why.
    public private(set) var errors: [NetworkError.Kind: Int] = [:]
    /// Why the first of them had none.
    public private(set) var error: NetworkError?
    /// Entries that were not sent.
    public let skipped: [ReissuedEntry]
    /// From the first message to the last answer.
    public internal(set) var duration = Duration.zero

    init(skipped: [ReissuedEntry]) {
        self.skipped = skipped
    }

    /// Answers per second.
    public var throughput: Double { duration > .zero ? Double(latency.count) / (duration / .seconds(1)) : 0 }

    /// How many messages had no answer.
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

extension LoadReport {
    private static let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)]

    /// The report as one JSON object; durations are milliseconds.
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

    private static func json(_ histogram: LatencyHistogram) -> JSONValue {
        var members: [String: JSONValue] = [
            "count": .integer(Int64(histogram.count)), "min": .number(histogram.shortest / .milliseconds(1)),
            "mean": .number(histogram.mean / .milliseconds(1)), "max": .number(histogram.longest / .milliseconds(1)),
        ]
        for (name, part) in quantiles { members[name] = .number(histogram.quantile(part) / .milliseconds(1)) }
        return .object(members)
    }
}

extension LoadReport: CustomStringConvertible {
    /// Answers, throughput, statuses and errors, and a table of latencies by kind.
    public var description: String {
        var lines = ["\(latency.count) responses in \(Self.text(duration)), \(Int(throughput.rounded())) per second"]
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

    private static func row(_ name: String, _ histogram: LatencyHistogram) -> [String] {
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

    /// `1.23 ms`, `12.3 s`: three digits.
    private static func text(_ duration: Duration) -> String {
        let micros = duration / .microseconds(1)
        let (value, unit) = micros >= 1e6 ? (micros / 1e6, "s") : (micros / 1e3, "ms")
        let places = value >= 100 ? 1.0 : value >= 10 ? 10 : 100
        let rounded = (value * places).rounded() / places
        return places == 1 ? "\(Int(rounded)) \(unit)" : "\(rounded) \(unit)"
    }
}

extension ReissuedEntry {
    /// Why it was not sent.
    fileprivate var reason: String {
        if case .skipped(let reason) = outcome { return reason }
        return ""
    }
}
