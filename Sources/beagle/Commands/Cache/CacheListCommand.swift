import ArgumentParser
import BeagleNet
import BeagleNetDiskCache
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The `beagle cache list` command, which writes a line for each stored response.
struct CacheListCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the stored responses, one on each line.",
        discussion: """
            Shows the status, size, age, state and URL of each response, in the order in which they were stored. The \
            state is 'fresh', 'stale', or 'partial' if the transfer ended early and can continue later.

            EXAMPLE
              beagle fetch http://127.0.0.1:8080/cached --cache responses
              beagle cache list responses
            """
    )

    @OptionGroup var source: CacheSource

    func result(in store: DiskResponseStore, on console: Console) async throws -> CommandResult {
        let entries = await store.entries()
        var result = CommandResult(json: .array(entries.map(\.json)))
        let width = Terminal.width(of: STDOUT_FILENO)
        result.output = Data(entries.map { $0.line(width) + "\n" }.joined().utf8)
        result.note = source.note(listed: entries.count, of: store)
        return result
    }
}

extension DiskResponseStore.Entry {
    /// The state of a listed response.
    private var state: String { isComplete ? isFresh ? "fresh" : "stale" : "partial" }

    fileprivate func line(_ width: Int?) -> String {
        let parts = [
            "\(status.code)", byteCount(Int64(bodyBytes)).leftPadded(8), age.roughText.leftPadded(8), state.padded(7),
        ]
        let used = parts.reduce(0) { $0 + $1.count + 2 }
        // The rules of No-Vary-Search have no URL.
        let name = url.isEmpty ? "-" : Redactor.standard.redact(url: url).printable
        return parts.joined(separator: "  ") + "  " + name.shortened(to: width.map { max($0 - used, 20) } ?? .max)
    }

    fileprivate var json: JSONValue {
        [
            "status": .integer(Int64(status.code)), "url": .string(Redactor.standard.redact(url: url)),
            "bytes": .integer(Int64(bodyBytes)), "ageSeconds": .integer(age.components.seconds),
            "fresh": .bool(isFresh), "complete": .bool(isComplete),
            "received": .string(Timestamp.text(of: responseTime)), "lastUse": .string(Timestamp.text(of: lastUse)),
        ]
    }
}
