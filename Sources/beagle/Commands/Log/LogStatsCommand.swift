import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The `beagle log stats` command, which shows counts and durations.
struct LogStatsCommand: LogSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Show the number of entries, their durations and results.",
        discussion: """
            Shows the 50th, 90th and 99th percentile of durations for all entries and by kind, host and GraphQL \
            operation. With --compare, shows the percentiles of the other recording, and how much they changed.

            EXAMPLE
              beagle log stats session.bglog
              beagle fetch http://127.0.0.1:8080/home --record after.bglog
              beagle log stats session.bglog --compare after.bglog
            """
    )

    @OptionGroup var source: LogSource

    @Argument(help: "Filter for entries, such as 'status<400'.", transform: Recording.Filter.argument)
    var filter: Recording.Filter?

    @Option(name: .long, help: ArgumentHelp("Other recording to compare, usually a newer one.", valueName: "path"))
    var compare: String?

    func result(on console: Console) throws -> CommandResult {
        let before = Recording.Statistics(try source.recording(on: console), filter: filter)
        guard let compare else {
            let text = StatisticsText(before, nil, console).lines.joined(separator: "\n") + "\n"
            return CommandResult(json: before.json, output: Data(text.utf8))
        }
        var other = source
        other.file.path = compare
        let after = Recording.Statistics(try other.recording(on: console), filter: filter)
        let text = StatisticsText(before, after, console).lines.joined(separator: "\n") + "\n"
        return CommandResult(json: ["before": before.json, "after": after.json], output: Data(text.utf8))
    }
}

/// Statistics as text.
private struct StatisticsText {
    private let before: Recording.Statistics
    private let after: Recording.Statistics?
    private let console: Console
    private let width: Int

    init(_ before: Recording.Statistics, _ after: Recording.Statistics?, _ console: Console) {
        self.before = before
        self.after = after
        self.console = console
        let names = [before, after].compactMap(\.self).flatMap { $0.kinds + $0.hosts + $0.operations }.map(\.name.count)
        width = min(max(names.max() ?? 0, 10), 40)
    }

    var lines: [String] {
        let titles =
            after == nil
            ? ["entries", "p50", "p90", "p99"] : ["entries", "p50", "change", "p90", "change", "p99", "change"]
        let head = "".padded(width) + titles.map { $0.leftPadded(11) }.joined()
        var lines = [console.styled(head, .bold)] + table("", [before.all], after.map { [$0.all] })
        lines += table("kinds", before.kinds, after?.kinds) + table("hosts", before.hosts, after?.hosts)
        lines += table("operations", before.operations, after?.operations)
        return lines + [""] + facts
    }

    private func table(_ title: String, _ groups: [Recording.Statistics.Group], _ others: [Recording.Statistics.Group]?)
        -> [String]
    {
        let others = Dictionary((others ?? []).map { ($0.name, $0) }) { first, _ in first }
        let new = others.keys.filter { name in !groups.contains { $0.name == name } }.sorted()
        guard !groups.isEmpty || !new.isEmpty else { return [] }
        let rows = groups.map { row($0.name, $0, others[$0.name]) } + new.map { row($0, nil, others[$0]) }
        return (title.isEmpty ? [] : ["", console.styled(title, .bold)]) + rows
    }

    private func row(_ name: String, _ group: Recording.Statistics.Group?, _ other: Recording.Statistics.Group?)
        -> String
    {
        let label = (name.isEmpty ? "all" : name).printable.shortened(to: width).padded(width)
        let counts = [group?.count, after == nil ? nil : other?.count ?? 0].compactMap(\.self).map(String.init)
        let count = after != nil && group == nil ? "0 → \(counts.last ?? "0")" : counts.joined(separator: " → ")
        let cells = [0.5, 0.9, 0.99].flatMap { share -> [String] in
            let (old, new) = (group?.percentile(share), other?.percentile(share))
            guard after != nil else { return [old.shownOrDash.leftPadded(11)] }
            return [new.shownOrDash.leftPadded(11), change(old, new)]
        }
        return label + count.leftPadded(11) + cells.joined()
    }

    /// Returns the change in percent.
    private func change(_ old: Duration?, _ new: Duration?) -> String {
        guard let old, let new, old > .zero else { return "-".leftPadded(11) }
        let percent = (new.milliseconds / old.milliseconds - 1) * 100
        let text = "\(percent < 0 ? "−" : "+")\(abs(percent) < 1e6 ? String(Int(abs(percent).rounded())) : "∞") %"
            .leftPadded(11)
        return percent > 10 ? console.styled(text, .red) : percent < -10 ? console.styled(text, .green) : text
    }

    private var facts: [String] {
        let rows: [(String, (Recording.Statistics.Group) -> String)] = [
            ("without a complete response", { "\($0.failures)" }),
            ("with a status of 400 or above", { "\($0.errorStatuses)" }),
            ("redirects", { "\($0.redirects)" }), ("served from a store", { "\($0.fromStore)" }),
            (
                "over a reused connection",
                { group in group.shareOfReused.map { "\(Int(($0 * 100).rounded())) % of \(group.fromServer)" } ?? "-" }
            ), ("bytes sent", { byteCount($0.bytesSent) }), ("bytes received", { byteCount($0.bytesReceived) }),
        ]
        return rows.map { title, value in
            let values = [before.all, after?.all].compactMap(\.self).map(value)
            return title.padded(31) + values.joined(separator: " → ")
        }
    }
}

extension Duration? {
    fileprivate var shownOrDash: String { map(\.shown) ?? "-" }
}

extension Recording.Statistics {
    fileprivate var json: JSONValue {
        [
            "all": all.json, "kinds": .array(kinds.map(\.json)), "hosts": .array(hosts.map(\.json)),
            "operations": .array(operations.map(\.json)),
        ]
    }
}

extension Recording.Statistics.Group {
    fileprivate var json: JSONValue {
        func ms(_ share: Double) -> JSONValue { percentile(share).map { .number($0.milliseconds) } ?? .null }
        return [
            "name": .string(name), "count": .integer(Int64(count)), "failures": .integer(Int64(failures)),
            "refusals": .integer(Int64(errorStatuses)), "redirects": .integer(Int64(redirects)),
            "stored": .integer(Int64(fromStore)), "answered": .integer(Int64(fromServer)),
            "reused": .integer(Int64(reused)), "bytesSent": .integer(bytesSent),
            "bytesReceived": .integer(bytesReceived),
            "p50Ms": ms(0.5), "p90Ms": ms(0.9), "p99Ms": ms(0.99),
        ]
    }
}
