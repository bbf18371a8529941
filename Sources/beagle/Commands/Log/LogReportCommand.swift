import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// `beagle log report`: a page for a browser.
struct LogReportCommand: LogSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write a page for a browser: a waterfall of all entries, with their heads and bodies.",
        discussion: """
            The page is one file, which asks for nothing else and can be sent to anybody. Only its owner may read it.

            EXAMPLE
              beagle log report s.bglog -o report.html
              beagle log report s.har 'host~example.com' -o report.html
            """
    )

    @OptionGroup var source: LogSource

    @Argument(help: "Which entries, as 'status>=400'.", transform: EntryFilter.argument)
    var filter: EntryFilter?

    @Option(name: .shortAndLong, help: ArgumentHelp("The page to write; - is standard output.", valueName: "file"))
    var output: String

    func result(on console: Console) throws -> CommandResult {
        let recording = try source.recording(on: console)
        let page = try HTMLReport(recording, title: source.name, filter: filter, redactor: source.redactor).page()
        var result = CommandResult(json: ["file": .string(output), "bytes": .integer(Int64(page.count))])
        guard output != "-" else {
            result.output = page
            return result
        }
        try write(page, to: output)
        result.note = "\(output): \(byteCount(Int64(page.count)))"
        return result
    }

    func validate() throws {
        if output.isEmpty { throw ValidationError("'-o' names no file.") }
        if output == "-", source.json { throw ValidationError("'-o -' and '--json' exclude each other.") }
    }
}
