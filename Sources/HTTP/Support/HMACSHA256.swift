#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif
#if canImport(CryptoKit)
    import CryptoKit
#endif

/// HMAC-SHA256 (RFC 2104, FIPS 180-4), as implemented by the system, like `SHA256Digest`.
package enum HMACSHA256 {
    #if canImport(CryptoKit)
        /// Returns the authentication code of 32 bytes, or `nil` if the system doesn't provide it.
        package static func bytes(of message: [UInt8], key: Data) -> [UInt8]? {
            Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
        }
    #else
        private typealias Algorithm = @convention(c) () -> OpaquePointer?
        // https://docs.openssl.org/3.0/man3/HMAC/
        private typealias Code =
            @convention(c) (
                OpaquePointer?, UnsafeRawPointer?, CInt, UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?,
                UnsafeMutablePointer<CUnsignedInt>?
            ) -> UnsafeMutablePointer<UInt8>?

        private struct Functions: Sendable {
            let sha256: Algorithm
            let code: Code
        }

        private static let functions = SharedLibrary.functions(of: "libcrypto.so.3", "libcrypto.so.1.1") { library in
            Functions(sha256: try library.function("EVP_sha256"), code: try library.function("HMAC"))
        }

        /// Returns the authentication code of 32 bytes, or `nil` if libcrypto isn't available.
        package static func bytes(of message: [UInt8], key: Data) -> [UInt8]? {
            guard let functions, let count = CInt(exactly: key.count) else { return nil }
            var bytes = [UInt8](repeating: 0, count: 32)
            var written: CUnsignedInt = 0
            // The pointers are valid for the duration of the call, and a SHA-256 code has 32 bytes.
            let result = key.withUnsafeBytes { key in
                functions.code(functions.sha256(), key.baseAddress, count, message, message.count, &bytes, &written)
            }
            return result == nil || written != 32 ? nil : bytes
        }
    #endif
}
