#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif
#if canImport(CryptoKit)
    import CryptoKit
#endif

/// SHA-256 (FIPS 180-4), by the system: CryptoKit on Apple platforms, elsewhere the libcrypto that libcurl's OpenSSL
/// flavour brings, looked up when the program runs.
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
        /// `SHA256` of https://docs.openssl.org/3.0/man3/SHA256_Init/
        private typealias Digest =
            @convention(c) (UnsafeRawPointer?, Int, UnsafeMutablePointer<UInt8>?) -> UnsafeMutablePointer<UInt8>?

        private static let digest: Digest? =
            SharedLibrary.functions(of: "libcrypto.so.3", "libcrypto.so.1.1") { library in
                try library.function("SHA256")
            }

        private static func bytes(of data: Data) throws(NetworkError) -> [UInt8] {
            guard let digest else {
                throw NetworkError(
                    .other,
                    during: .queue,
                    "no libcrypto was found",
                    advice: "install OpenSSL's libssl3"
                )
            }
            var bytes = [UInt8](repeating: 0, count: 32)
            data.withUnsafeBytes { _ = digest($0.baseAddress, $0.count, &bytes) }
            return bytes
        }
    #endif
}
