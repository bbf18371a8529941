import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The recording that a command reads, and its output options.
struct LogFile: ParsableArguments {
    @Argument(help: "Log NAME.bglog, or HTTP Archive.")
    var path: String

    @Flag(name: .long, help: "Write one JSON object to standard output, even on failure.")
    var json = false

    @Option(name: .long, help: "Use colour in the output.")
    var color = ColorChoice.auto
}

/// The recording that a command shows, and its output options.
@dynamicMemberLookup
struct LogSource: ParsableArguments {
    @OptionGroup var file: LogFile

    @Flag(name: .long, help: "Show secrets in an archive.")
    var showSecrets = false

    init() {}

    /// Creates the options of a command that never shows secrets.
    init(_ file: LogFile) {
        (self.file, showSecrets) = (file, false)
    }

    subscript<Value>(dynamicMember member: KeyPath<LogFile, Value>) -> Value { file[keyPath: member] }

    /// The redactor for output, or `nil` if secrets are shown.
    var redactor: Redactor? { showSecrets ? nil : Redactor() }

    /// The name of the recording without its directory.
    var name: String { URL(fileURLWithPath: file.path).lastPathComponent }

    /// Reads the recording, and reports its errors.
    func recording(on console: Console) throws -> Recording {
        let recording = try reading { () throws(NetworkError) in try Recording(contentsOf: file.path) }
        let errors = recording.warnings.filter { $0.severity == .error }
        for warning in errors.prefix(3) { console.note("beagle: \(warning)".printable) }
        if errors.count > 3 { console.note("beagle: \(counted(errors.count - 3, "more error")) like these") }
        return recording
    }

    /// Returns an entry as it is shown, with secrets redacted unless they are to be shown.
    func shown(_ entry: LogEntry) -> LogEntry {
        redactor.map(entry.redacted) ?? entry
    }

    /// Returns the entry with this number or id.
    ///
    /// - Throws: `Failure` if there is no such entry.
    func entry(_ name: String, of recording: Recording) throws -> Recording.NumberedEntry {
        let entries = recording.entries
        let index = Int(name).flatMap { (1...max(entries.count, 1)).contains($0) ? $0 - 1 : nil }
        if let index = index ?? entries.firstIndex(where: { $0.id == name }), entries.indices.contains(index) {
            return Recording.NumberedEntry(number: index + 1, entry: shown(entries[index]))
        }
        throw Failure(
            exit: ExitCode.readFailed,
            code: "no_entry",
            phase: .file,
            "there is no entry \(name) in \(file.path); number of entries: \(entries.count)",
            advice: "list the entries with 'beagle log list \(file.path)'"
        )
    }
}

extension Recording.Filter {
    /// Reads a filter from the command line, and describes what is wrong with an invalid one.
    static func argument(_ text: String) throws -> Recording.Filter {
        do throws(NetworkError) {
            return try Recording.Filter(text)
        } catch {
            throw ValidationError([error.message, error.advice].compactMap(\.self).joined(separator: "; "))
        }
    }
}
