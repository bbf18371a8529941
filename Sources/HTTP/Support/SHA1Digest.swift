#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(CryptoKit)
    import CryptoKit
#endif

/// SHA-1 (FIPS 180-4), as implemented by the system, like `SHA256Digest`.
///
/// SHA-1 is no longer secure, but the opening handshake of a WebSocket requires it (RFC 6455, 1.3).
enum SHA1Digest {
    #if canImport(CryptoKit)
        static func bytes(of data: Data) throws(NetworkError) -> [UInt8] {
            Array(Insecure.SHA1.hash(data: data))
        }
    #else
        private static let digest = Libcrypto("SHA1", count: 20)

        static func bytes(of data: Data) throws(NetworkError) -> [UInt8] { try digest.bytes(of: data) }
    #endif
}
