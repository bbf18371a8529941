import BeagleNet
import BeagleNetHTTP
import Foundation

/// The references of a screen as a table, and as JSON.
struct PlanReport {
    private let screen: ParsedScreen

    init(_ screen: ParsedScreen) {
        self.screen = screen
    }

    func result(on console: Console) -> CommandResult {
        let lines = table(console) + [summary]
        let omitted = screen.plan.omittedCount
        return CommandResult(
            json: json,
            output: Data("\(lines.joined(separator: "\n"))\n".utf8),
            note: omitted > 0 ? "beagle: the screen has too many references; left out: \(omitted)" : nil
        )
    }

    // MARK: - Table

    private func table(_ console: Console) -> [String] {
        let rows = screen.plan.references.map { reference in
            [
                reference.kind.rawValue, reference.when.rawValue, reference.shortTarget,
                reference.obstacle?.rawValue ?? "prefetch", reference.pointer,
            ].map(\.printable)
        }
        // A long URL doesn't widen the column of all.
        let widths = (0..<4).map { column in rows.map { min(48, $0[column].count) }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, text in
                column < 4 ? text + String(repeating: " ", count: max(0, widths[column] - text.count)) : text
            }
            let state = console.styled(cells[3], row[3] == "prefetch" ? .green : .yellow)
            return [console.styled(cells[0], .bold), cells[1], cells[2], state, cells[4]].joined(separator: "  ")
        }
    }

    /// The number of references by kind: `references 6 · image 1 · route 2 · prefetch 3`.
    private var summary: String {
        let references = screen.plan.references
        var kinds: [String] = []
        for reference in references where !kinds.contains(reference.kind.rawValue) {
            kinds.append(reference.kind.rawValue)
        }
        let counts = kinds.map { kind in "\(kind) \(references.count { $0.kind.rawValue == kind })" }
        let prefetches = references.count(where: \.isPrefetchable)
        return (["references \(references.count)"] + counts + ["prefetch \(prefetches)"]).joined(separator: " · ")
    }

    // MARK: - JSON

    private var json: JSONValue {
        [
            "type": screen.type.map { .string($0) } ?? nil,
            "id": screen.id.map { .string($0) } ?? nil,
            "references": .array(screen.plan.references.map(\.json)),
            "omitted": .integer(Int64(screen.plan.omittedCount)),
        ]
    }
}

extension ScreenPlan.Reference {
    /// The URL with the values of its expressions if they are known.
    var bestURL: String { resolvedURL ?? url }

    /// The URL, after the method unless that is GET.
    var target: String { method == "GET" ? bestURL : "\(method) \(bestURL)" }

    /// The target for a line of output. The contents of a `data:` URL are left out.
    var shortTarget: String {
        let isLong = bestURL.utf8.count > 80 && bestURL.prefix(5).lowercased() == "data:"
        return isLong ? "\(String(target.prefix(60)).printable)…" : target.printable
    }

    /// The reference in the format of `--json`.
    var json: JSONValue {
        var members: [String: JSONValue] = [
            "pointer": .string(pointer), "kind": .string(kind.rawValue), "when": .string(when.rawValue),
            "url": .string(url), "resolved": resolvedURL.map { .string($0) } ?? nil, "method": .string(method),
            "events": .array(events.map { .string($0) }), "prefetch": .bool(isPrefetchable),
        ]
        members["obstacle"] = obstacle.map { .string($0.rawValue) }
        members["headers"] = headers.map(Self.value)
        members["body"] = body.map(Self.value)
        if !fields.isEmpty { members["fields"] = .array(fields.map { .string($0) }) }
        return .object(members)
    }

    /// Returns a value of the screen, or its text if it is nested too deep to be converted.
    private static func value(_ json: Data) -> JSONValue {
        do throws(NetworkError) {
            return try JSONValue(parsing: json)
        } catch {
            return .string(String(decoding: json, as: UTF8.self))
        }
    }
}
