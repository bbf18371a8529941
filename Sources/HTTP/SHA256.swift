#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif
#if canImport(CryptoKit)
    import CryptoKit
#endif

/// SHA-256 (FIPS 180-4), by the system: CryptoKit on Apple platforms, elsewhere `Libcrypto`.
package enum SHA256Digest {
    /// The digest in lower-case hexadecimal.
    ///
    /// - Throws: `NetworkError` where there is no libcrypto.
    package static func hex(of data: Data) throws(NetworkError) -> String {
        let digits = Array("0123456789abcdef")
        return String(try bytes(of: data).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    #if canImport(CryptoKit)
        private static func bytes(of data: Data) throws(NetworkError) -> [UInt8] {
            Array(SHA256.hash(data: data))
        }
    #else
        private static let digest = Libcrypto("SHA256", count: 32)

        private static func bytes(of data: Data) throws(NetworkError) -> [UInt8] { try digest.bytes(of: data) }
    #endif
}
