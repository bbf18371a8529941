import ArgumentParser
import BeagleNetReplay
import Foundation

/// The flags of every command that sends requests: where they are recorded.
struct RecordingFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Record requests and responses, without secrets, in this directory. BEAGLENET_LOG=NAME.bglog has the same \
            effect for all commands.
            """,
            valueName: "name.bglog"
        )
    )
    var record: String?

    func validate() throws {
        if record == "" { throw ValidationError("'--record' requires a directory name.") }
    }

    /// The transport, what goes through which is recorded where that is asked for.
    func recorded(
        _ transport: some HTTPTransport,
        _ console: Console
    ) throws(NetworkError) -> any HTTPTransport {
        guard let log = try openLog(console) else { return transport }
        return RecordingTransport(transport, log: log)
    }

    /// The log that is written; nil where none is.
    func openLog(_ console: Console) throws(NetworkError) -> RequestLog? {
        let named = record ?? ProcessInfo.processInfo.environment["BEAGLENET_LOG"] ?? ""
        if named.isEmpty { return nil }
        var options = RequestLog.Options()
        options.logger = FaultLogger(console: console)
        return try RequestLog(directory: named, options: options)
    }
}

/// Tells that recording has stopped.
private struct FaultLogger: BeagleLogger {
    let console: Console

    func log(_ log: any LogType) { console.note("beagle: \(log.message)".printable) }
}
