import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The option for replaying a recording instead of using the network.
struct ReplayFlags: ParsableArguments {
    @Option(
        name: .customLong("replay"),
        help: ArgumentHelp(
            """
            Use the recorded responses in this log or HTTP Archive instead of the network. If it has no response for a \
            request, the command exits with 103. BEAGLENET_REPLAY=MODE:RECORDING has the same effect for all commands; \
            MODE is offline (the recording only), fallback (the network for requests without a recorded response), \
            record-new (like fallback, and records the new responses) or live (the network only; reports responses \
            that differ from the recorded ones).
            """,
            valueName: "recording"
        )
    )
    var path: String?

    /// The options of a command line without any.
    static var none: ReplayFlags {
        var flags = ReplayFlags()
        flags.path = nil
        return flags
    }

    func validate() throws {
        if path == "" { throw ValidationError("'--replay' requires the name of a recording.") }
    }

    /// Returns the transport that replays a recording, or `nil` if the network is used.
    ///
    /// - Parameter base: The network transport, for modes that use both.
    func transport(_ base: any HTTPTransport, _ console: Console) throws(NetworkError) -> ReplayTransport? {
        try reading { () throws(NetworkError) in
            if let path { return ReplayTransport(try Recording(contentsOf: path)) }
            guard let replay = try ReplaySwitch(in: ProcessInfo.processInfo.environment) else { return nil }
            let (recording, mode) = try replay.open(base) { console.note("beagle: \($0)".printable) }
            return ReplayTransport(recording, mode: mode)
        }
    }
}

extension ReplayTransport.Miss {
    /// The nearest entries, for `--json`.
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
