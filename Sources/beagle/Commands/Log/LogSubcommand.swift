import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// A command that reads a recording and writes a result.
protocol LogSubcommand: AsyncParsableCommand, Sendable {
    var source: LogSource { get }

    /// Returns the result of the command.
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
    /// Writes a file atomically, readable by its owner only. A pipe or device is written directly.
    func write(_ data: Data, to path: String) throws {
        try FileSink.write(data, to: path, isPrivate: true)
    }
}
