import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The `beagle log tail` command, which shows entries as they complete.
struct LogTailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Show the entries of a log as they complete, until interrupted.",
        discussion: """
            Shows existing entries first, unless --new is given. With --json, each entry is an object on its own line.

            EXAMPLE
              beagle log tail session.bglog 'status>=400 || error'
            """
    )

    @OptionGroup var source: LogSource

    @Argument(help: "Filter for entries, such as 'status>=400'.", transform: Recording.Filter.argument)
    var filter: Recording.Filter?

    @Flag(name: .long, help: "Skip existing entries.")
    var new = false

    func run() async throws {
        let console = Console(source.color)
        do {
            let reader = try reading { () throws(NetworkError) in try RequestLog.Reader(directory: source.path) }
            try await Interrupt.cancelling { try await follow(reader, console) }
        } catch let interrupt as Interrupt {
            throw ExitCode(interrupt.exitCode)
        } catch {
            let failure = Failure(wrapping: error)
            if source.json { console.line("\(failure.envelope(timing: [:]))") } else { console.note(failure) }
            throw ExitCode(failure.exit)
        }
    }

    private func follow(_ reader: RequestLog.Reader, _ console: Console) async throws {
        let files = Recording([], directory: source.path)
        let columns = EntryColumns(of: nil, width: Terminal.width(of: STDOUT_FILENO))
        for try await entry in reader.following(skipsExisting: new) {
            let isWanted = filter?.matches(entry) { body in files.readable(body) } ?? true
            guard isWanted else { continue }
            let entry = source.shown(entry)
            console.line(source.json ? "\(entry.summary(number: nil))" : columns.line(nil, entry, on: console))
        }
    }
}
