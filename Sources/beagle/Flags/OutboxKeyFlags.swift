import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// The option of commands that use an outbox: the key that encrypts its entries.
struct OutboxKeyFlags: ParsableArguments {
    @Option(
        name: .customLong("outbox-key"),
        help: ArgumentHelp(
            """
            Encrypt and decrypt outbox entries with the AES-256 key in this file: 32 bytes, or 64 hexadecimal digits.
            """,
            valueName: "file"
        )
    )
    var file: String?

    func validate() throws {
        if file == "" { throw ValidationError("'--outbox-key' requires a file name.") }
    }

    /// Returns the key, or `nil` if none is given.
    ///
    /// - Throws: `NetworkError` if the file can't be read or doesn't contain a key.
    func key() throws(NetworkError) -> Outbox.Key? {
        guard let file else { return nil }
        return try Outbox.Key(KeyFile.bytes(at: file))
    }
}
