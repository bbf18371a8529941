import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay

/// The flag of every command that sends requests: what answers instead of the network.
struct ReplayFlags: ParsableArguments {
    @Option(
        name: .customLong("replay"),
        help: ArgumentHelp(
            "Ask no server: answer from this recording, a log or an HTTP Archive. What it lacks ends with 103.",
            valueName: "recording"
        )
    )
    var path: String?

    func validate() throws {
        if path == "" { throw ValidationError("'--replay' names no recording.") }
    }

    /// What answers instead of the network; nil where the network does.
    func transport() throws(NetworkError) -> ReplayTransport? {
        guard let path else { return nil }
        return ReplayTransport(try reading { () throws(NetworkError) in try Recording(contentsOf: path) })
    }
}

extension ReplayMiss {
    /// The nearest entries in `--json`.
    var json: JSONValue {
        .array(
            nearest.map { near in
                [
                    "id": .string(near.id), "request": .string(near.request),
                    "differences": .array(near.differences.map { .string("\($0)") }),
                ]
            }
        )
    }
}
