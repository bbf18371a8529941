import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// `beagle log scrub`: secrets in an archive.
struct LogScrubCommand: LogSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "scrub",
        abstract: "Take secrets out of an archive, or tell where they are.",
        discussion: """
            With -o the archive is written once more without them, by the rules by which logs are written: each is REDACTED; \
            with --hash equal ones stay equal, for this run; with --drop the item that holds it goes. A body in which nobody \
            can tell what is secret is left out. A broken archive ends the command as with 'log export'.

            With --check a line for each place that holds a secret, as a path in the archive, never what it is, and for each that \
            nobody can look at, as a body's file that is missing; it ends with 1 where there is one, which stops a pipeline \
            before an archive is shared. Of a log, records that were cut off and files that no entry names are looked at too.

            EXAMPLE
              beagle log scrub browser.har -o fixtures/home.har
              beagle log scrub fixtures/home.har --check
            """
    )

    @OptionGroup var source: LogSource

    @Option(name: .shortAndLong, help: ArgumentHelp("The archive to write, or a log NAME.bglog.", valueName: "file"))
    var output: String?

    @Flag(name: .long, help: "Tell where secrets are, and change nothing.")
    var check = false

    @Flag(name: .long, help: "Put a keyed hash in the place of each secret.")
    var hash = false

    @Flag(name: .long, help: "Leave out the items that hold secrets.")
    var drop = false

    @Option(
        name: .long,
        help: ArgumentHelp("A header or name that is secret besides the usual ones. Repeatable.", valueName: "name")
    )
    var secret: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("A header or name that is none although it looks like one. Repeatable.", valueName: "name")
    )
    var shown: [String] = []

    func validate() throws {
        if check == (output != nil) { throw ValidationError("Give either '-o' or '--check'.") }
        if output == "" || output == "-" { throw ValidationError("'-o' names no file.") }
        if [hash, drop, check].count(where: \.self) > 1 {
            throw ValidationError("'--hash', '--drop' and '--check' exclude each other.")
        }
        if source.showSecrets { throw ValidationError("'--show-secrets' does not go with 'log scrub'.") }
    }

    func result(on console: Console) throws -> CommandResult {
        let mode: Redactor.Mode = hash ? .hash() : drop ? .drop : .mask
        let redactor = Redactor(secrets: Set(secret), shown: Set(shown), mode: mode)
        if let output {
            let recording = try source.recording(on: console)
            return try ArchiveOfEntries(recording, redactor).write(recording.entries, to: output, .embedded, console)
        }
        let places = try reading { () throws(NetworkError) in try self.places(by: redactor) }
        guard !places.isEmpty else {
            return CommandResult(json: ["secrets": []], note: "\(source.path) has no secrets")
        }
        let count = places.count == 1 ? "1 place" : "\(places.count) places"
        let message = "\(source.path) has secrets, or what cannot be looked at, in \(count)"
        var failure = Failure(exit: 1, code: "secrets", phase: .file, message)
        failure.details = ["secrets": .array(places.map { .string($0) })]
        if !source.json { console.write(Data(places.map { $0.printable + "\n" }.joined().utf8)) }
        throw failure
    }

    /// Where secrets are, in the order of the file.
    private func places(by redactor: Redactor) throws(NetworkError) -> [String] {
        var (places, count): ([String], Int) = ([], 0)
        if LogReader.isLog(source.path) {
            return try LogReader(directory: source.path).findings(by: redactor)
        }
        let reader = HARReader(contentsOf: source.path)
        while let entry = try reader.next() {
            places += entry.findings(by: redactor).map { "$.log.entries[\(count)].\($0)" }
            count += 1
        }
        return places + reader.members.flatMap { $0.findings(by: redactor) }.map { "$.log.\($0)" }
    }
}
