#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(CryptoKit)
    import CryptoKit
#endif

/// MD5 (RFC 1321), as implemented by the system.
///
/// MD5 is no longer secure. RFC 7616 keeps it for servers that support nothing else.
enum MD5Digest {
    /// Returns the digest in lowercase hexadecimal.
    ///
    /// - Throws: `NetworkError` if the system has no MD5.
    static func hex(of data: Data) throws(NetworkError) -> String {
        let digits = Array("0123456789abcdef")
        return String(try bytes(of: data).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    #if canImport(CryptoKit)
        private static func bytes(of data: Data) throws(NetworkError) -> [UInt8] {
            Array(Insecure.MD5.hash(data: data))
        }
    #else
        /// `MD5` of https://docs.openssl.org/3.0/man3/MD5/
        private typealias Digest =
            @convention(c) (UnsafeRawPointer?, Int, UnsafeMutablePointer<UInt8>?) -> UnsafeMutablePointer<UInt8>?

        private static let digest: Digest? =
            SharedLibrary.functions(of: "libcrypto.so.3", "libcrypto.so.1.1") { library in
                try library.function("MD5")
            }

        private static func bytes(of data: Data) throws(NetworkError) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 16)
            // The result is NULL if the system forbids MD5 (FIPS).
            let isDone = data.withUnsafeBytes { digest?($0.baseAddress, $0.count, &bytes) != nil }
            guard isDone else {
                throw NetworkError(
                    .unsupported,
                    during: .queue,
                    "the server requires Digest with MD5, which this system's libcrypto does not support",
                    advice: "install OpenSSL's libssl3, or configure the server for SHA-256"
                )
            }
            return bytes
        }
    #endif
}
