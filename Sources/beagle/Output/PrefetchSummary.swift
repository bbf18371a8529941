import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// The parts of a prefetch that are stored, and those that are missing, as a table and as JSON.
struct PrefetchSummary {
    private let parts: [ViewClient.OfflineSet.Part]
    private let missing: [ViewClient.OfflineSet.Missing]

    /// - Parameters:
    ///   - stored: The set as it is on the disk.
    ///   - fetched: The set after it was fetched, which has the reasons of failed requests.
    init(_ stored: ViewClient.OfflineSet, after fetched: ViewClient.OfflineSet) {
        parts = stored.parts
        missing = stored.missing.map { part in
            fetched.missing.first { $0.url == part.url && $0.kind == part.kind } ?? part
        }
    }

    /// - Parameter hasUser: Whether the command line names the user of the responses.
    /// - Throws: `Failure` with the exit code 107 if something is missing.
    func result(hasUser: Bool, on console: Console) throws -> CommandResult {
        let output = Data((lines(console) + [summary]).map { "\($0)\n" }.joined().utf8)
        guard !missing.isEmpty else { return CommandResult(json: json, output: output) }
        var failure = Failure(
            exit: ExitCode.faultsFound,
            code: "incomplete",
            phase: .response,
            "the prefetch is incomplete: \(missing.count) of \(parts.count + missing.count) parts are missing"
        )
        if !hasUser, missing.contains(where: { $0.error.kind == .notStored }) {
            failure.advice = "responses to requests with credentials or other headers are stored only with --cache-user"
        }
        failure.output = output
        failure.details["report"] = json
        throw failure
    }

    private func lines(_ console: Console) -> [String] {
        let stored = parts.map { part in
            ["stored", part.kind.rawValue, byteCount(Int64(part.bytes)), Self.shown(part.url)]
        }
        let missing = missing.map { part in
            ["missing", part.kind.rawValue, "", "\(Self.shown(part.url))  \(Self.reason(part))"]
        }
        let rows = stored + missing
        let widths = (0..<3).map { column in rows.map(\.[column].count).max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            let state = console.styled(cells[0], row[0] == "stored" ? .green : .red)
            return ([state] + cells.dropFirst() + [row[3]]).joined(separator: "  ")
        }
    }

    /// The totals: `stored 5 · 28.1 kB · missing 1`.
    private var summary: String {
        let bytes = parts.reduce(0) { $0 + $1.bytes }
        return "stored \(parts.count) · \(byteCount(Int64(bytes))) · missing \(missing.count)"
    }

    private static func shown(_ url: String) -> String { Redactor.standard.redact(url: url).printable }

    private static func reason(_ part: ViewClient.OfflineSet.Missing) -> String {
        Redactor.standard.redact(text: part.error.message).printable
    }

    private var json: JSONValue {
        [
            "stored": .array(
                parts.map { part in
                    [
                        "kind": .string(part.kind.rawValue), "url": .string(Self.shown(part.url)),
                        "bytes": .integer(Int64(part.bytes)), "ageSeconds": .integer(part.age.components.seconds),
                        "stale": .bool(part.isStale),
                    ]
                }
            ),
            "missing": .array(
                missing.map { part in
                    [
                        "kind": .string(part.kind.rawValue), "url": .string(Self.shown(part.url)),
                        "parent": part.parent.map { .string(Self.shown($0)) } ?? nil,
                        "code": .string(part.error.kind.rawValue), "message": .string(Self.reason(part)),
                    ]
                }
            ),
        ]
    }
}
