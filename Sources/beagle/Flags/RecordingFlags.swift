import ArgumentParser
import BeagleNetReplay
import Foundation

/// The option for recording requests.
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

    /// Returns the transport, which records its requests if that is requested.
    func recorded(
        _ transport: some HTTPTransport,
        _ console: Console
    ) throws(NetworkError) -> any HTTPTransport {
        guard let log = try openLog(console) else { return transport }
        return RecordingTransport(transport, log: log)
    }

    /// Opens the log, or returns `nil` if requests aren't recorded.
    func openLog(_ console: Console) throws(NetworkError) -> RequestLog? {
        let named = record ?? ProcessInfo.processInfo.environment["BEAGLENET_LOG"] ?? ""
        if named.isEmpty { return nil }
        var options = RequestLog.Options()
        options.logger = RecordingFaultLogger(console: console)
        return try RequestLog(directory: named, options: options)
    }
}

/// Reports that recording has stopped.
private struct RecordingFaultLogger: BeagleLogger {
    let console: Console

    func log(_ log: any LogType) { console.note("beagle: \(log.message)".printable) }
}
