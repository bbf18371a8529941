#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(CryptoKit)
    import CryptoKit
#endif

/// SHA-1 (FIPS 180-4), by the system as `SHA256Digest`. It protects nothing any more; the opening handshake of a
/// WebSocket is written with it (RFC 6455, 1.3).
enum SHA1Digest {
    #if canImport(CryptoKit)
        static func bytes(of data: Data) throws(NetworkError) -> [UInt8] {
            Array(Insecure.SHA1.hash(data: data))
        }
    #else
        /// `SHA1` of https://docs.openssl.org/3.0/man3/SHA256_Init/
        private typealias Digest =
            @convention(c) (UnsafeRawPointer?, Int, UnsafeMutablePointer<UInt8>?) -> UnsafeMutablePointer<UInt8>?

        private static let digest: Digest? =
            SharedLibrary.functions(of: "libcrypto.so.3", "libcrypto.so.1.1") { library in
                try library.function("SHA1")
            }

        static func bytes(of data: Data) throws(NetworkError) -> [UInt8] {
            guard let digest else {
                throw NetworkError(
                    .other,
                    during: .queue,
                    "no libcrypto was found",
                    advice: "install OpenSSL's libssl3"
                )
            }
            var bytes = [UInt8](repeating: 0, count: 20)
            data.withUnsafeBytes { _ = digest($0.baseAddress, $0.count, &bytes) }
            return bytes
        }
    #endif
}
