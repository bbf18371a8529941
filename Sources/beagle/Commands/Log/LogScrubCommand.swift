import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The `beagle log scrub` command, which removes or finds secrets in an archive.
struct LogScrubCommand: LogSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "scrub",
        abstract: "Remove secrets from an archive, or find them.",
        discussion: """
            With -o, writes a copy of the archive without secrets, by the same rules as logs. Each secret is replaced \
            by REDACTED. With --hash, equal secrets become equal hashes within this run; with --drop, the item that \
            contains the secret is removed. A body that cannot be searched for secrets is left out. If an archive is \
            malformed, the command exits with 101, or with 61 if it cannot be decompressed.

            With --check, writes a line for each secret, with its path in the archive but not the secret itself, and \
            for each part that cannot be checked, such as a missing body file. The command then exits with 1 if there \
            are any, so that a script can stop before an archive is shared. In a log, truncated records and files \
            without an entry are checked too.

            EXAMPLE
              beagle log scrub session.har -o clean.har
              beagle log scrub clean.har --check
            """
    )

    @OptionGroup var file: LogFile

    var source: LogSource { LogSource(file) }

    @Option(name: .shortAndLong, help: ArgumentHelp("Archive to write, or a log NAME.bglog.", valueName: "file"))
    var output: String?

    @Flag(name: .long, help: "List where secrets are, and change nothing.")
    var check = false

    @Flag(name: .long, help: "Replace each secret with a keyed hash.")
    var hash = false

    @Flag(name: .long, help: "Remove the items that contain secrets.")
    var drop = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Treat this header or name as secret, in addition to the usual ones. Repeatable.",
            valueName: "name"
        )
    )
    var secret: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Treat this header or name as not secret. Repeatable.", valueName: "name")
    )
    var shown: [String] = []

    func validate() throws {
        if check == (output != nil) { throw ValidationError("Use either '-o' or '--check'.") }
        if output == "" || output == "-" { throw ValidationError("'-o' requires a file name.") }
        if [hash, drop, check].count(where: \.self) > 1 {
            throw ValidationError("'--hash', '--drop' and '--check' cannot be used together.")
        }
    }

    func result(on console: Console) throws -> CommandResult {
        let mode: Redactor.Mode = hash ? .hash() : drop ? .drop : .mask
        let redactor = Redactor(secrets: Set(secret), visibleNames: Set(shown), mode: mode)
        if let output {
            let recording = try source.recording(on: console)
            return try ArchiveExport(recording, redactor).write(recording.entries, to: output, .embedded, console)
        }
        let places = try reading { () throws(NetworkError) in try self.places(by: redactor) }
        guard !places.isEmpty else {
            return CommandResult(json: ["secrets": []], note: "\(source.path) contains no secrets")
        }
        let count = counted(places.count, "place")
        let message = "\(source.path) contains secrets, or parts that cannot be checked, in \(count)"
        var failure = Failure(exit: 1, code: "secrets", phase: .file, message)
        failure.details = ["secrets": .array(places.map { .string($0) })]
        if !source.json { console.write(Data(places.map { $0.printable + "\n" }.joined().utf8)) }
        throw failure
    }

    /// Returns the locations of secrets, in the order of the file.
    private func places(by redactor: Redactor) throws(NetworkError) -> [String] {
        var (places, count): ([String], Int) = ([], 0)
        if RequestLog.Reader.isLog(source.path) {
            return try RequestLog.Reader(directory: source.path).findings(by: redactor)
        }
        let reader = HARReader(contentsOf: source.path)
        while let entry = try reader.next() {
            places += entry.findings(by: redactor).map { "$.log.entries[\(count)].\($0)" }
            count += 1
        }
        return places + reader.members.flatMap { $0.findings(by: redactor) }.map { "$.log.\($0)" }
    }
}
