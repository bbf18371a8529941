import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// A command that reads a recording and tells what it found.
protocol LogSubcommand: AsyncParsableCommand, Sendable {
    var source: LogSource { get }

    /// What the command found.
    func result(on console: Console) throws -> CommandResult
}

extension LogSubcommand {
    func run() async throws {
        let console = Console(source.color)
        do {
            let result = try result(on: console)
            if source.json { console.line("\(result.envelope(timing: [:]))") } else { console.write(result.output) }
            if let note = result.note { console.note(note) }
        } catch {
            let failure = Failure(wrapping: error)
            if source.json { console.line("\(failure.envelope(timing: [:]))") } else { console.note(failure) }
            throw ExitCode(failure.exit)
        }
    }
}

extension LogSubcommand {
    /// Writes a file that only its owner may read, all at once; a pipe or device is written to as it is.
    func write(_ data: Data, to path: String) throws {
        let sink = try FileSink(path: path, mayWait: true, isPrivate: true)
        try data.withUnsafeBytes { try sink.write($0) }
        try sink.commit()
    }
}

/// The recording that a command reads, and how it tells of it.
struct LogSource: ParsableArguments {
    @Argument(help: "Log NAME.bglog, or HTTP Archive.")
    var path: String

    @Flag(name: .long, help: "Show secrets in an archive.")
    var showSecrets = false

    @Flag(name: .long, help: "Write one JSON object to standard output, even on failure.")
    var json = false

    @Option(name: .long, help: "Use colour in the output.")
    var color = ColorChoice.auto

    /// What takes secrets out of what is shown; nil where they are wanted.
    var redactor: Redactor? { showSecrets ? nil : Redactor() }

    /// The name of the recording, without its folder.
    var name: String { URL(fileURLWithPath: path).lastPathComponent }

    /// Reads the recording, and says what was not as it should be.
    func recording(on console: Console) throws -> Recording {
        let recording = try reading { () throws(NetworkError) in try Recording(contentsOf: path) }
        let errors = recording.warnings.filter { $0.severity == .error }
        for warning in errors.prefix(3) { console.note("beagle: \(warning)".printable) }
        if errors.count > 3 { console.note("beagle: \(errors.count - 3) more errors like these") }
        return recording
    }

    /// The entry as it is shown.
    func shown(_ entry: LogEntry) -> LogEntry {
        redactor.map(entry.redacted) ?? entry
    }

    /// The entry of this number or id.
    ///
    /// - Throws: `Failure` where there is none.
    func entry(_ name: String, of recording: Recording) throws -> NumberedEntry {
        let entries = recording.entries
        let index = Int(name).flatMap { (1...max(entries.count, 1)).contains($0) ? $0 - 1 : nil }
        if let index = index ?? entries.firstIndex(where: { $0.id == name }), entries.indices.contains(index) {
            return NumberedEntry(number: index + 1, entry: shown(entries[index]))
        }
        throw Failure(
            exit: ExitCode.readFailed,
            code: "no_entry",
            phase: .file,
            "there is no entry \(name) in \(path); number of entries: \(entries.count)",
            advice: "list the entries with 'beagle log list \(path)'"
        )
    }
}

extension EntryFilter {
    /// Reads a filter of the command line, and says why where it cannot.
    static func argument(_ text: String) throws -> EntryFilter {
        do throws(NetworkError) {
            return try EntryFilter(text)
        } catch {
            throw ValidationError([error.message, error.advice].compactMap(\.self).joined(separator: "; "))
        }
    }
}
