import BeagleNetHTTP
import Foundation

/// What a command found out.
struct CommandResult {
    /// `result` of the tool's `--json`.
    var json: JSONValue
    /// Members of that as they are written there, so that no number loses digits.
    var written: [String: String] = [:]
    /// What goes to standard output without `--json`.
    var output = Data()
    /// A line for the person at the terminal.
    var note: String?

    /// The one object of `--json`.
    func envelope(timing: JSONValue) -> String {
        let result = json.text(with: written)
        return JSONNode.object(of: ["ok": "true", "exit": "0", "result": result, "timing": "\(timing)"])
    }
}
