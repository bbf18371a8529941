import ArgumentParser
import BeagleNetHTTP
import Foundation

/// The option of commands that use a cache: the key that encrypts its responses.
struct CacheKeyFlags: ParsableArguments {
    @Option(
        name: .customLong("cache-key"),
        help: ArgumentHelp(
            """
            Encrypt and decrypt stored responses with the AES-256 key in this file: 32 bytes, or 64 hexadecimal digits. \
            Responses of another key are not used. A run that stores with a key removes those that have none.
            """,
            valueName: "file"
        )
    )
    var file: String?

    func validate() throws {
        if file == "" { throw ValidationError("'--cache-key' requires a file name.") }
    }

    /// Returns the key, or `nil` if none is given.
    ///
    /// - Throws: `NetworkError` if the file can't be read.
    func bytes() throws(NetworkError) -> Data? {
        guard let file else { return nil }
        return try KeyFile.bytes(at: file)
    }
}
