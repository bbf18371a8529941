import ArgumentParser
import BeagleNet
import BeagleNetDiskCache
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The `beagle cache stats` command, which shows the size of a cache.
struct CacheStatsCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Show the number and size of the stored responses.",
        discussion: """
            The size counts each response in whole pages of 4 KiB. The limit is that of --cache; an app has its own.

            EXAMPLE
              beagle fetch http://127.0.0.1:8080/cached --cache responses
              beagle cache stats responses
            """
    )

    @OptionGroup var source: CacheSource

    func result(in store: DiskResponseStore, on console: Console) async throws -> CommandResult {
        let statistics = store.statistics()
        let entries = await store.entries()
        let fresh = entries.count(where: \.isFresh)
        let times = entries.map(\.responseTime)
        var json: [String: JSONValue] = [
            "responses": .integer(Int64(statistics.count)), "bytes": .integer(Int64(statistics.bytes)),
            "limitBytes": .integer(Int64(DiskResponseStore.defaultMaxBytes)),
            "files": .integer(Int64(statistics.files)),
            "fresh": .integer(Int64(fresh)), "stale": .integer(Int64(entries.count - fresh)),
            "incomplete": .integer(Int64(entries.count { !$0.isComplete })),
        ]
        json["oldest"] = times.min().map { .string(Timestamp.text(of: $0)) }
        json["newest"] = times.max().map { .string(Timestamp.text(of: $0)) }
        let (size, limit) = (Int64(statistics.bytes), Int64(DiskResponseStore.defaultMaxBytes))
        var rows = [
            ("responses", "\(statistics.count)"), ("fresh", "\(fresh)"), ("stale", "\(entries.count - fresh)"),
            ("incomplete", "\(entries.count { !$0.isComplete })"),
            ("size", "\(byteCount(size)) of \(byteCount(limit))"), ("files", "\(statistics.files)"),
        ]
        if let oldest = times.min(), let newest = times.max() {
            rows += [("oldest", Timestamp.text(of: oldest)), ("newest", Timestamp.text(of: newest))]
        }
        let text = rows.map { "\($0.padded(11)) \($1)\n" }.joined()
        let note = entries.isEmpty ? nil : source.note(listed: entries.count, of: store)
        return CommandResult(json: .object(json), output: Data(text.utf8), note: note)
    }
}
