import ArgumentParser
import BeagleNet
import BeagleNetDiskCache
import BeagleNetHTTP
import Foundation

/// The `beagle cache clear` command, which removes stored responses.
struct CacheClearCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove all stored responses, or those of one user.",
        discussion: """
            The space is returned to the file system. The directory and its empty database remain.

            EXAMPLE
              beagle fetch http://127.0.0.1:8080/cached --cache responses --cache-user ana
              beagle cache clear responses --cache-user ana
            """
    )

    @OptionGroup var source: CacheSource

    @Option(
        name: .customLong("cache-user"),
        help: ArgumentHelp("Remove only the responses of this user, as given with --cache-user.", valueName: "name")
    )
    var user: String?

    func validate() throws {
        if user == "" { throw ValidationError("'--cache-user' requires a name.") }
    }

    func result(in store: DiskResponseStore, on console: Console) async throws -> CommandResult {
        let before = store.statistics()
        if let user { await store.removeAll(of: user) } else { await store.removeAll() }
        await store.finishReturningSpace()
        let after = store.statistics()
        let removed = max(0, before.count - after.count)
        return CommandResult(
            json: ["removed": .integer(Int64(removed)), "remaining": .integer(Int64(after.count))],
            note: "\(source.directory): removed \(counted(removed, "response"))"
        )
    }
}
