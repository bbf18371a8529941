import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The `beagle log report` command, which writes an HTML page.
struct LogReportCommand: LogSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write an HTML report: a waterfall of the entries, with their headers and bodies.",
        discussion: """
            The report is a single file without external resources, so it is easy to share. The file is created \
            readable by its owner only.

            EXAMPLE
              beagle log report session.bglog -o report.html
              beagle log report session.bglog 'path~home' -o home.html
            """
    )

    @OptionGroup var source: LogSource

    @Argument(help: "Filter for entries, such as 'status>=400'.", transform: Recording.Filter.argument)
    var filter: Recording.Filter?

    @Option(name: .shortAndLong, help: ArgumentHelp("HTML file to write; '-' is standard output.", valueName: "file"))
    var output: String

    func result(on console: Console) throws -> CommandResult {
        let recording = try source.recording(on: console)
        let page = try Recording.HTMLReport(recording, title: source.name, filter: filter, redactor: source.redactor)
            .page()
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
        if output.isEmpty { throw ValidationError("'-o' requires a file name.") }
        if output == "-", source.json { throw ValidationError("'-o -' and '--json' cannot be used together.") }
    }
}
