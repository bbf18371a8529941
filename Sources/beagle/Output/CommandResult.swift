import BeagleNetHTTP
import Foundation

/// The result of a command.
struct CommandResult {
    /// The result for `--json`.
    var json: JSONValue
    /// Members of the result in their original notation, so that numbers keep all digits.
    var written: [String: String] = [:]
    /// The output without `--json`.
    var output = Data()
    /// A message for standard error.
    var note: String?

    /// Adds the part that the cache had in the response.
    mutating func add(_ report: CacheReport) {
        if case .object(var members) = json {
            members["cache"] = report.json
            json = .object(members)
        }
        if let line = report.note { note = [note, line].compactMap(\.self).joined(separator: "\n") }
    }

    /// Returns the JSON object for `--json`.
    func envelope(timing: JSONValue) -> String {
        let result = json.text(with: written)
        return JSONNode.object(of: ["ok": "true", "exit": "0", "result": result, "timing": "\(timing)"])
    }
}
