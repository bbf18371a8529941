import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The `beagle log export` command, which writes entries as an HTTP Archive.
struct LogExportCommand: LogSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export entries as an HTTP Archive, which browsers and other tools read, or as a log.",
        discussion: """
            The extension of the output selects its format: .gz (gzip), .zhar (zlib, as mitmproxy uses it) or .bglog \
            (a log, whose directory must not exist yet); any other extension selects an uncompressed archive. The \
            output is readable by its owner only. The pages, browser and creator of an archive are kept. 'har convert' \
            writes an archive without redaction. If an archive is malformed, the command exits with 101, or with 61 if \
            it cannot be decompressed, and writes nothing.

            EXAMPLE
              beagle log export session.bglog -o session.har
              beagle log export session.bglog 'type==fetchComponent' -o screens.har
            """
    )

    @OptionGroup var source: LogSource

    @Argument(help: "Filter for entries, such as 'status<400'.", transform: Recording.Filter.argument)
    var filter: Recording.Filter?

    @Option(name: .shortAndLong, help: ArgumentHelp("Archive or log to write.", valueName: "file"))
    var output: String

    @Flag(name: .long, help: "Write response bodies to separate files, in NAME_files next to the archive.")
    var attach = false

    func validate() throws {
        if output.isEmpty || output == "-" { throw ValidationError("'-o' requires a file name.") }
        guard LogImport.isLog(named: output) else { return }
        if attach { throw ValidationError("'--attach' requires an archive, but '\(output)' is a log.") }
        if source.showSecrets {
            throw ValidationError("'--show-secrets' requires an archive: a log contains no secrets.")
        }
    }

    func result(on console: Console) throws -> CommandResult {
        let recording = try source.recording(on: console)
        let entries = recording.entries(matching: filter).map(\.entry)
        // A log contains no secrets, and its bodies can stay in their files until they are copied.
        let redactor = RequestLog.Reader.isLog(source.path) ? nil : source.redactor
        return try ArchiveExport(recording, redactor).write(
            entries,
            to: output,
            attach ? .attached : .embedded,
            console
        )
    }
}

/// Writes entries of a recording as an archive, or as a log if the file name says so.
struct ArchiveExport {
    private let recording: Recording
    private let redactor: Redactor?

    /// - Parameter redactor: Redacts secrets in entries and bodies, or `nil` to copy them unchanged.
    init(_ recording: Recording, _ redactor: Redactor?) {
        self.recording = recording
        self.redactor = redactor
    }

    func write(
        _ entries: [LogEntry],
        to output: String,
        _ bodies: HARWriter.Bodies,
        _ console: Console
    ) throws -> CommandResult {
        if let breakage = recording.breakage { throw Failure(breakage, recording) }
        if LogImport.isLog(named: output) { return try writeLog(entries, to: output, console) }
        let writer = try HARWriter(to: output, bodies: bodies)
        var places = 0
        for entry in entries {
            let shown = redactor.map { recording.redacted(entry, by: $0) } ?? entry
            places += shown.redactions.count - entry.redactions.count
            try writer.write(recording.archived(shown))
        }
        try writer.finish(
            members: redactor.map(recording.writableMembers(redactedBy:)) ?? recording.writableMembers
        )
        return result(output, entries.count, places, writer.warnings, console)
    }

    private func writeLog(_ entries: [LogEntry], to output: String, _ console: Console) throws -> CommandResult {
        let log = try LogImport(to: output, redactor: redactor ?? Redactor())
        for entry in entries { log.write(entry, of: recording) }
        try log.finish()
        return result(output, entries.count, log.redactions, log.warnings, console)
    }

    private func result(
        _ output: String,
        _ entries: Int,
        _ places: Int,
        _ warnings: [Recording.Warning],
        _ console: Console
    ) -> CommandResult {
        for warning in warnings { console.note("beagle: \(warning)".printable) }
        var result = CommandResult(
            json: [
                "file": .string(output), "entries": .integer(Int64(entries)), "redacted": .integer(Int64(places)),
                "warnings": .array((recording.warningTexts + warnings.map { "\($0)" }).map { .string($0) }),
            ]
        )
        let redactions = redactor == nil ? "" : ", secrets redacted in \(counted(places, "place"))"
        result.note = "\(output): \(counted(entries, "entry", "entries"))\(redactions)"
        return result
    }
}

extension Recording {
    /// The first thousand warnings as text.
    var warningTexts: [String] { warnings.prefix(1_000).map { "\($0)" } }
}

extension Failure {
    /// Creates the failure for a malformed archive whose entries before the error were read.
    init(_ breakage: NetworkError, _ recording: Recording) {
        self.init(breakage)
        details["warnings"] = .array(recording.warningTexts.map { .string($0) })
        guard let place = breakage.underlying as? Recording.Warning else { return }
        details["file"] = .string(place.file)
        details["offset"] = place.offset.map { .integer(Int64($0)) }
        details["path"] = .string(place.path)
    }
}
