import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// `beagle log gen-test`: entries as tests.
struct LogGenTestCommand: LogSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "gen-test",
        abstract: "Write a file for Swift Testing with a client that answers as it was recorded.",
        discussion: """
            A test for each method, URL and body, with its answers in their order; no body of more than 64 KiB.

            EXAMPLE
              beagle log gen-test s.bglog 'type==fetchComponent' -o Tests/RecordedTests.swift
            """
    )

    @OptionGroup var source: LogSource

    @Argument(help: "Which entries, as 'status<400'.", transform: EntryFilter.argument)
    var filter: EntryFilter?

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write; - is standard output.", valueName: "file"))
    var output: String

    func validate() throws {
        if output.isEmpty { throw ValidationError("'-o' names no file.") }
        if output == "-", source.json { throw ValidationError("'-o -' and '--json' exclude each other.") }
    }

    func result(on console: Console) throws -> CommandResult {
        let recording = try source.recording(on: console)
        let tests = GeneratedTests(recording, title: source.name, filter: filter, redactor: source.redactor)
        let counts: JSONValue = [
            "file": .string(output), "tests": .integer(Int64(tests.count)), "leftOut": .integer(Int64(tests.leftOut)),
        ]
        var result = CommandResult(json: counts)
        if output == "-" {
            result.output = Data(tests.source.utf8)
        } else {
            try write(Data(tests.source.utf8), to: output)
        }
        let left = tests.leftOut == 0 ? "" : ", \(tests.leftOut) \(tests.leftOut == 1 ? "entry" : "entries") left out"
        result.note = "\(output): \(tests.count) tests\(left)"
        return result
    }
}
