#if canImport(CryptoKit)
    import CryptoKit
#endif

/// An incremental SHA-256, as implemented by the system: CryptoKit on Apple platforms, elsewhere libcrypto.
package struct RunningSHA256: ~Copyable {
    #if canImport(CryptoKit)
        private var digest = SHA256()

        package init() throws(NetworkError) {}

        /// Adds bytes to the digest.
        package mutating func update(_ bytes: UnsafeRawBufferPointer) {
            digest.update(bufferPointer: bytes)
        }

        /// Returns the digest in lowercase hexadecimal.
        package consuming func hex() -> String { Hexadecimal.text(digest.finalize()) }
    #else
        private let functions: Functions
        private let context: OpaquePointer

        /// Creates a digest.
        ///
        /// - Throws: `NetworkError` if libcrypto isn't available.
        package init() throws(NetworkError) {
            guard let functions = Self.functions, let context = functions.make() else {
                throw NetworkError(
                    .other,
                    during: .queue,
                    "libcrypto was not found",
                    advice: "install OpenSSL's libssl3"
                )
            }
            self.functions = functions
            self.context = context
            _ = functions.begin(context, functions.sha256(), nil)
        }

        deinit {
            functions.free(context)
        }

        /// Adds bytes to the digest.
        package mutating func update(_ bytes: UnsafeRawBufferPointer) {
            _ = functions.update(context, bytes.baseAddress, bytes.count)
        }

        /// Returns the digest in lowercase hexadecimal.
        package consuming func hex() -> String {
            var bytes = [UInt8](repeating: 0, count: 32)
            _ = functions.end(context, &bytes, nil)
            return Hexadecimal.text(bytes)
        }

        /// The functions of libcrypto: https://docs.openssl.org/3.0/man3/EVP_DigestInit/
        private struct Functions: Sendable {
            let make: @convention(c) () -> OpaquePointer?
            let free: @convention(c) (OpaquePointer) -> Void
            let sha256: @convention(c) () -> OpaquePointer?
            let begin: @convention(c) (OpaquePointer, OpaquePointer?, OpaquePointer?) -> Int32
            let update: @convention(c) (OpaquePointer, UnsafeRawPointer?, Int) -> Int32
            let end: @convention(c) (OpaquePointer, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt32>?) -> Int32
        }

        private static let functions = SharedLibrary.functions(of: "libcrypto.so.3", "libcrypto.so.1.1") { library in
            Functions(
                make: try library.function("EVP_MD_CTX_new"),
                free: try library.function("EVP_MD_CTX_free"),
                sha256: try library.function("EVP_sha256"),
                begin: try library.function("EVP_DigestInit_ex"),
                update: try library.function("EVP_DigestUpdate"),
                end: try library.function("EVP_DigestFinal_ex")
            )
        }
    #endif
}

/// Conversion of bytes to hexadecimal text.
package enum Hexadecimal {
    /// Returns two lowercase digits for each byte.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
