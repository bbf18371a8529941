import BeagleNetHTTP
import Foundation

/// Encrypts the parts of stored responses with AES-256-GCM.
struct ResponseCipher: Sendable {
    /// The parts of a response. A part can't be decrypted as another one.
    enum Part: UInt8 {
        case head, body
    }

    private let key: Data

    /// - Throws: `NetworkError` of kind `.badConfiguration` if the key hasn't 32 bytes.
    init(key: Data) throws(NetworkError) {
        guard key.count == AESGCM.keyBytes else {
            throw NetworkError(
                .badConfiguration,
                during: .build,
                "the encryption key has \(key.count) bytes",
                advice: "use a key of \(AESGCM.keyBytes) random bytes"
            )
        }
        self.key = key
    }

    /// Encrypts a part with a random nonce.
    ///
    /// - Parameters:
    ///   - keyDigest: The digest of the response's key, to which the result is bound.
    ///   - selecting: The selecting fields as they are stored, to which the result is bound too.
    func seal(_ data: Data, _ part: Part, of keyDigest: Data, _ selecting: String) throws(NetworkError) -> Data {
        try AESGCM.seal(data, key: key, authenticating: Self.bound(part, keyDigest, selecting))
    }

    /// Decrypts a part.
    ///
    /// - Returns: `nil` if the key is wrong or any byte was changed.
    func open(_ sealed: Data, _ part: Part, of keyDigest: Data, _ selecting: String) throws(NetworkError) -> Data? {
        try AESGCM.open(sealed, key: key, authenticating: Self.bound(part, keyDigest, selecting))
    }

    private static func bound(_ part: Part, _ keyDigest: Data, _ selecting: String) -> Data {
        [part.rawValue] + keyDigest + Data(selecting.utf8)
    }
}
