import ArgumentParser
import BeagleNet
import BeagleNetHTTP

/// The options for storing responses on the disk.
struct CacheStoreFlags: ParsableArguments {
    @Option(
        name: .customLong("cache"),
        help: ArgumentHelp(
            """
            Store responses in this directory, and use stored ones as HTTP and --cache-mode allow. An interrupted \
            download is continued by the next run if the server supports that. See 'beagle cache'.
            """,
            valueName: "directory"
        )
    )
    var folder: String?

    @Option(
        name: .customLong("cache-user"),
        help: ArgumentHelp(
            """
            Keep the stored responses of this user apart from those of others. Responses to requests with \
            credentials, cookies or other personal headers are stored only with this option, so that they never reach \
            another user. The name is not stored in clear text.
            """,
            valueName: "name"
        )
    )
    var user: String?

    @Option(
        name: .customLong("cache-size"),
        help: ArgumentHelp(
            "Remove the least recently used responses if the directory has more, such as 500k or 2G. (default: 150M)",
            valueName: "bytes"
        )
    )
    var size: ByteSize?

    @OptionGroup var key: CacheKeyFlags

    func validate() throws {
        if folder == "" { throw ValidationError("'--cache' requires a directory name.") }
        if user == "" { throw ValidationError("'--cache-user' requires a name.") }
        guard folder == nil else { return }
        if user != nil { throw ValidationError("'--cache-user' requires '--cache'.") }
        if size != nil { throw ValidationError("'--cache-size' requires '--cache'.") }
        if key.file != nil { throw ValidationError("'--cache-key' requires '--cache'.") }
    }
}
