#if !canImport(CryptoKit)
    #if canImport(FoundationEssentials)
        import FoundationEssentials
    #else
        import Foundation
    #endif

    /// A digest function of the libcrypto that libcurl's OpenSSL build depends on, looked up at run time
    /// (https://docs.openssl.org/3.0/man3/SHA256_Init/).
    struct Libcrypto: Sendable {
        private typealias Digest =
            @convention(c) (UnsafeRawPointer?, Int, UnsafeMutablePointer<UInt8>?) -> UnsafeMutablePointer<UInt8>?

        private let digest: Digest?
        private let count: Int

        /// Looks up the function with this name, whose digests have `count` bytes.
        init(_ function: String, count: Int) {
            self.count = count
            digest = SharedLibrary.functions(of: "libcrypto.so.3", "libcrypto.so.1.1") { library in
                try library.function(function)
            }
        }

        /// Returns the digest of data.
        ///
        /// - Throws: `NetworkError` if libcrypto isn't available.
        func bytes(of data: Data) throws(NetworkError) -> [UInt8] {
            guard let digest else { throw .noLibcrypto }
            var bytes = [UInt8](repeating: 0, count: count)
            data.withUnsafeBytes { _ = digest($0.baseAddress, $0.count, &bytes) }
            return bytes
        }
    }
#endif
