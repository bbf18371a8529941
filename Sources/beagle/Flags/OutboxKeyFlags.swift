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
    func key() throws(NetworkError) -> OutboxKey? {
        guard let file else { return nil }
        var data = try reading { () throws(NetworkError) in try OpenFile(reading: file).contents(upTo: 1024) }
        if data.count >= Self.digits, let text = String(validating: data, as: UTF8.self) {
            let digits = text.filter { !$0.isWhitespace }
            let bytes = stride(from: 0, to: digits.count, by: 2).map { digits.dropFirst($0).prefix(2) }
            let values = bytes.compactMap { UInt8($0, radix: 16) }
            if digits.count == Self.digits, values.count == Self.digits / 2 { data = Data(values) }
        }
        return try OutboxKey(data)
    }

    private static let digits = 64
}
