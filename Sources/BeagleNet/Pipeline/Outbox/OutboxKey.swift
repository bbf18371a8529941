import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A key that encrypts the entries of an outbox on the disk, with AES-256-GCM.
///
/// The app makes 32 random bytes once and keeps them where it keeps secrets, such as a keychain or a secret store. Without
/// the key, entries can't be read, sent or listed.
public struct OutboxKey: Sendable {
    private let bytes: Data
    /// Tells keys apart without telling anything about them: part of an HMAC-SHA256 under the key.
    let id: String

    /// Creates a key.
    ///
    /// - Parameter bytes: 32 random bytes.
    /// - Throws: `NetworkError` of kind `.badConfiguration` if there aren't 32 bytes, or the system has no cipher.
    public init(_ bytes: Data) throws(NetworkError) {
        guard bytes.count == AESGCM.keyBytes else {
            throw .unusableKey("it has \(bytes.count) bytes, but AES-256 requires \(AESGCM.keyBytes)")
        }
        guard let code = HMACSHA256.bytes(of: Array("beagle-outbox".utf8), key: bytes) else {
            throw .unusableKey("libcrypto was not found")
        }
        self.bytes = bytes
        id = Hexadecimal.text(Array(code.prefix(8)))
    }

    /// Encrypts a file. `line` stays readable, and can't be changed without the key.
    func seal(_ file: Data, under line: Data) throws(NetworkError) -> Data {
        try AESGCM.seal(file, key: bytes, authenticating: line)
    }

    /// Decrypts a file; `nil` if it was changed.
    func open(_ sealed: Data, under line: Data) throws(NetworkError) -> Data? {
        try AESGCM.open(sealed, key: bytes, authenticating: line)
    }
}

extension OutboxKey: CustomStringConvertible, CustomReflectable {
    /// The identifier of the key, which tells nothing about its bytes.
    public var description: String { "OutboxKey(\(id))" }

    /// The identifier alone, so that `dump` shows no bytes.
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

extension NetworkError {
    fileprivate static func unusableKey(_ why: String) -> NetworkError {
        NetworkError(
            .badConfiguration,
            during: .build,
            "the outbox key cannot be used: \(why)",
            advice: "generate 32 random bytes once, and store them where the app stores secrets"
        )
    }
}
