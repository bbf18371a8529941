import BeagleNetHTTP
import Foundation

/// What a command found out.
struct CommandResult {
    /// `result` of the tool's `--json`.
    var json: JSONValue
    /// What goes to standard output without `--json`.
    var output = Data()
    /// A line for the person at the terminal.
    var note: String?

    /// The one object of `--json`.
    func envelope(timing: JSONValue) -> JSONValue {
        ["ok": true, "exit": 0, "result": json, "timing": timing]
    }
}
