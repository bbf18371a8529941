import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Outbox {
    /// A key that encrypts the entries of an outbox on disk, with AES-256-GCM.
    ///
    /// The app generates 32 random bytes once and stores them with its other secrets, for example in a keychain.
    /// Without the key, entries can't be read, sent or listed.
    public struct Key: Sendable {
        private let bytes: Data
        /// An identifier that doesn't reveal the key: part of an HMAC-SHA256 under it.
        let id: String

        /// Creates a key.
        ///
        /// - Parameter bytes: 32 random bytes.
        /// - Throws: A `NetworkError` of kind `.badConfiguration` if there aren't 32 bytes, or libcrypto isn't found.
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

        /// Encrypts a file.
        ///
        /// The `line` stays readable, and can't be changed without the key.
        func seal(_ file: Data, under line: Data) throws(NetworkError) -> Data {
            try AESGCM.seal(file, key: bytes, authenticating: line)
        }

        /// Decrypts a file; returns `nil` if it was changed.
        func open(_ sealed: Data, under line: Data) throws(NetworkError) -> Data? {
            try AESGCM.open(sealed, key: bytes, authenticating: line)
        }
    }
}

extension Outbox.Key: CustomStringConvertible, CustomReflectable {
    /// The identifier of the key, which reveals nothing about its bytes.
    public var description: String { "Outbox.Key(\(id))" }

    /// A mirror with the identifier only, so that `dump` shows no bytes.
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
