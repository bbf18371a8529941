#if !canImport(CryptoKit)
    #if canImport(FoundationEssentials)
        import FoundationEssentials
    #else
        import Foundation
    #endif

    /// A digest of the libcrypto that libcurl's OpenSSL flavour brings, looked up when the program runs
    /// (https://docs.openssl.org/3.0/man3/SHA256_Init/).
    struct Libcrypto: Sendable {
        private typealias Digest =
            @convention(c) (UnsafeRawPointer?, Int, UnsafeMutablePointer<UInt8>?) -> UnsafeMutablePointer<UInt8>?

        private let digest: Digest?
        private let count: Int

        /// The function of this name, whose digests have `count` bytes.
        init(_ function: String, count: Int) {
            self.count = count
            digest = SharedLibrary.functions(of: "libcrypto.so.3", "libcrypto.so.1.1") { library in
                try library.function(function)
            }
        }

        /// - Throws: `NetworkError` where there is no libcrypto.
        func bytes(of data: Data) throws(NetworkError) -> [UInt8] {
            guard let digest else { throw .noLibcrypto }
            var bytes = [UInt8](repeating: 0, count: count)
            data.withUnsafeBytes { _ = digest($0.baseAddress, $0.count, &bytes) }
            return bytes
        }
    }
#endif
