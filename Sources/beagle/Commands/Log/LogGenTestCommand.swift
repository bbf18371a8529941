import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The `beagle log gen-test` command, which writes entries as tests.
struct LogGenTestCommand: LogSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "gen-test",
        abstract: "Generate Swift Testing tests with a client that returns the recorded responses.",
        discussion: """
            Writes a test for each method, URL and body, with its responses in recorded order. Entries with bodies of \
            more than 64 KiB are left out.

            EXAMPLE
              beagle log gen-test session.bglog 'type==fetchComponent' -o ScreenTests.swift
            """
    )

    @OptionGroup var source: LogSource

    @Argument(help: "Filter for entries, such as 'status<400'.", transform: Recording.Filter.argument)
    var filter: Recording.Filter?

    @Option(name: .shortAndLong, help: ArgumentHelp("File to write; '-' is standard output.", valueName: "file"))
    var output: String

    func validate() throws {
        if output.isEmpty { throw ValidationError("'-o' requires a file name.") }
        if output == "-", source.json { throw ValidationError("'-o -' and '--json' cannot be used together.") }
    }

    func result(on console: Console) throws -> CommandResult {
        let recording = try source.recording(on: console)
        let tests = Recording.GeneratedTests(recording, title: source.name, filter: filter, redactor: source.redactor)
        let counts: JSONValue = [
            "file": .string(output), "tests": .integer(Int64(tests.count)),
            "leftOut": .integer(Int64(tests.omittedCount)),
        ]
        var result = CommandResult(json: counts)
        if output == "-" {
            result.output = Data(tests.source.utf8)
        } else {
            try write(Data(tests.source.utf8), to: output)
        }
        let left = tests.omittedCount == 0 ? "" : ", \(counted(tests.omittedCount, "entry", "entries")) left out"
        result.note = "\(output): \(counted(tests.count, "test"))\(left)"
        return result
    }
}
