import BeagleNetCache
import BeagleNetHTTP
import Foundation

/// Keyed digests (HMAC-SHA256) that stand on the disk in place of URLs, users and request fields.
///
/// The secret is random and belongs to one database, so that digests of two stores can't be compared.
struct KeyDigests: Sendable {
    static let secretBytes = 32
    /// The number of hexadecimal digits of a value's digest.
    static let valueDigits = 64

    /// The values that are digested. Equal texts of two purposes have different digests.
    private enum Purpose: UInt8 {
        case key, origin, partition, value
    }

    private let secret: Data

    init(secret: Data) {
        self.secret = secret
    }

    /// Returns random bytes from the system.
    static func randomBytes(_ count: Int) -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// The digest of a whole key.
    func key(_ key: ResponseKey) throws(NetworkError) -> Data {
        var parts = [key.method, key.scheme, key.authority, key.target, key.partition].map { Data($0.utf8) }
        if let body = key.body { parts.append(body) }
        return try digest(.key, parts)
    }

    /// The digest of a key's origin and user.
    func origin(_ key: ResponseKey) throws(NetworkError) -> Data {
        try digest(.origin, [key.scheme, key.authority, key.partition].map { Data($0.utf8) })
    }

    /// The digest of a user.
    func partition(_ partition: String) throws(NetworkError) -> Data {
        try digest(.partition, [Data(partition.utf8)])
    }

    /// The digest of a selecting field's value, in lowercase hexadecimal.
    func value(_ value: String) throws(NetworkError) -> String {
        Hexadecimal.text(try digest(.value, [Data(value.utf8)]))
    }

    /// Lengths stand before the parts, so that no two lists of parts give the same message.
    private func digest(_ purpose: Purpose, _ parts: [Data]) throws(NetworkError) -> Data {
        var message: [UInt8] = [purpose.rawValue]
        message.reserveCapacity(parts.reduce(1) { $0 + 8 + $1.count })
        for part in parts {
            withUnsafeBytes(of: UInt64(part.count).littleEndian) { message.append(contentsOf: $0) }
            message.append(contentsOf: part)
        }
        guard let bytes = HMACSHA256.bytes(of: message, key: secret) else {
            throw NetworkError(
                .other,
                during: .file,
                "the stored responses can't be used because libcrypto was not found",
                advice: "install OpenSSL's libssl3"
            )
        }
        return Data(bytes)
    }
}
