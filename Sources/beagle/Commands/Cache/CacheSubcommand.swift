import ArgumentParser
import BeagleNet
import BeagleNetDiskCache
import BeagleNetHTTP
import Foundation

/// A command that reads or changes stored responses.
protocol CacheSubcommand: AsyncParsableCommand, Sendable {
    var source: CacheSource { get }

    /// Returns the result of the command.
    func result(in store: DiskResponseStore, on console: Console) async throws -> CommandResult
}

extension CacheSubcommand {
    func run() async throws {
        let console = Console(source.color)
        do {
            let result = try await result(in: source.open(console), on: console)
            if source.json { console.line("\(result.envelope(timing: [:]))") } else { console.write(result.output) }
            if let note = result.note { console.note(note) }
        } catch {
            let failure = Failure(wrapping: error)
            if source.json { console.line("\(failure.envelope(timing: [:]))") } else { console.note(failure) }
            throw ExitCode(failure.exit)
        }
    }
}

/// The directory of stored responses, and the output options.
struct CacheSource: ParsableArguments {
    @Argument(help: "Directory of the stored responses, as given to --cache.")
    var directory: String

    @OptionGroup var key: CacheKeyFlags

    @Flag(name: .long, help: "Write one JSON object to standard output, even on failure.")
    var json = false

    @Option(name: .long, help: "Use colour in the output.")
    var color = ColorChoice.auto

    /// Opens the existing store.
    func open(_ console: Console) throws(NetworkError) -> DiskResponseStore {
        let key = try key.bytes()
        return try reading { () throws(NetworkError) in
            try DiskResponseStore(existing: directory, encryptionKey: key) { console.note($0) }
        }
    }

    /// Returns the note for responses that can't be listed, or `nil` if all can be.
    func note(listed: Int, of store: DiskResponseStore) -> String? {
        let hidden = store.statistics().count - listed
        guard hidden > 0 else { return listed == 0 ? "\(directory) has no responses" : nil }
        let reason = key.file == nil ? "encrypted" : "encrypted with another key or without one"
        return "\(counted(hidden, "response")) not listed: \(reason), or damaged"
    }
}
