import ArgumentParser

/// The `beagle cache` command, whose subcommands inspect and clear the responses that `--cache` or an app has stored.
struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Inspect and clear stored responses.",
        discussion: """
            DIRECTORY is the directory of --cache, or that of an app's DiskResponseStore. An app may use it at the \
            same time. URLs are listed without their queries, which are not stored in clear text. Encrypted \
            responses are shown only with their --cache-key, and otherwise counted.

            EXAMPLE
              beagle fetch http://127.0.0.1:8080/cached --cache responses
              beagle cache list responses
              beagle cache show responses http://127.0.0.1:8080/cached
            """,
        subcommands: [
            CacheStatsCommand.self, CacheListCommand.self, CacheShowCommand.self, CacheClearCommand.self,
            CacheVerifyCommand.self,
        ]
    )
}
