#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif
#if canImport(CryptoKit)
    import CryptoKit
#endif

/// SHA-256 (FIPS 180-4), as implemented by the system: CryptoKit on Apple platforms, elsewhere `Libcrypto`.
package enum SHA256Digest {
    /// Returns the digest in lowercase hexadecimal.
    ///
    /// - Throws: `NetworkError` if libcrypto isn't available.
    package static func hex(of data: Data) throws(NetworkError) -> String {
        Hexadecimal.text(try bytes(of: data))
    }

    #if canImport(CryptoKit)
        /// Returns the digest of 32 bytes.
        package static func bytes(of data: Data) throws(NetworkError) -> [UInt8] {
            Array(SHA256.hash(data: data))
        }
    #else
        private static let digest = Libcrypto("SHA256", count: 32)

        /// Returns the digest of 32 bytes.
        ///
        /// - Throws: `NetworkError` if libcrypto isn't available.
        package static func bytes(of data: Data) throws(NetworkError) -> [UInt8] { try digest.bytes(of: data) }
    #endif
}
