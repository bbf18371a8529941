#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif
#if canImport(CryptoKit)
    import CryptoKit
#endif

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D).
///
/// Uses CryptoKit on Apple platforms. On others it uses the libcrypto that libcurl's OpenSSL build depends on
/// (https://docs.openssl.org/3.0/man3/EVP_EncryptInit/).
package enum AESGCM {
    /// The length of a key, in bytes.
    package static let keyBytes = 32

    #if canImport(CryptoKit)
        /// Encrypts data with a fresh random nonce.
        ///
        /// - Parameters:
        ///   - data: The plaintext.
        ///   - key: A key of `keyBytes` bytes.
        ///   - authenticated: Bytes that aren't part of the result. `open` must be given the same bytes.
        /// - Returns: The nonce, the ciphertext and the tag.
        package static func seal(
            _ data: Data,
            key: Data,
            authenticating authenticated: Data
        ) throws(NetworkError) -> Data {
            do {
                let box = try AES.GCM.seal(data, using: SymmetricKey(data: key), authenticating: authenticated)
                guard let sealed = box.combined else { throw NetworkError.cipherFailed }
                return sealed
            } catch {
                throw .cipherFailed
            }
        }

        /// Decrypts the result of `seal`.
        ///
        /// - Returns: The plaintext, or `nil` if the key is wrong or any byte was changed.
        package static func open(
            _ sealed: Data,
            key: Data,
            authenticating authenticated: Data
        ) throws(NetworkError) -> Data? {
            do {
                let box = try AES.GCM.SealedBox(combined: sealed)
                return try AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: authenticated)
            } catch {
                return nil
            }
        }
    #else
        private static let nonceBytes = 12
        private static let tagBytes = 16

        /// Encrypts data with a fresh random nonce.
        ///
        /// - Parameters:
        ///   - data: The plaintext, less than 2 GiB.
        ///   - key: A key of `keyBytes` bytes.
        ///   - authenticated: Bytes that aren't part of the result. `open` must be given the same bytes.
        /// - Returns: The nonce, the ciphertext and the tag.
        /// - Throws: `NetworkError` if libcrypto isn't available or encryption fails.
        package static func seal(
            _ data: Data,
            key: Data,
            authenticating authenticated: Data
        ) throws(NetworkError) -> Data {
            guard let functions else { throw .noLibcrypto }
            var random = SystemRandomNumberGenerator()
            let nonce = (0..<nonceBytes).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            var tag = [UInt8](repeating: 0, count: tagBytes)
            guard
                let text = functions.run(.encrypt, [UInt8](data), [UInt8](key), nonce, [UInt8](authenticated), &tag)
            else { throw .cipherFailed }
            return Data(nonce + text + tag)
        }

        /// Decrypts the result of `seal`.
        ///
        /// - Returns: The plaintext, or `nil` if the key is wrong or any byte was changed.
        /// - Throws: `NetworkError` if libcrypto isn't available.
        package static func open(
            _ sealed: Data,
            key: Data,
            authenticating authenticated: Data
        ) throws(NetworkError) -> Data? {
            guard let functions else { throw .noLibcrypto }
            guard sealed.count >= nonceBytes + tagBytes else { return nil }
            let nonce = [UInt8](sealed.prefix(nonceBytes))
            let text = [UInt8](sealed.dropFirst(nonceBytes).dropLast(tagBytes))
            var tag = [UInt8](sealed.suffix(tagBytes))
            return functions.run(.decrypt, text, [UInt8](key), nonce, [UInt8](authenticated), &tag).map { Data($0) }
        }

        private static let functions = SharedLibrary.functions(of: "libcrypto.so.3", "libcrypto.so.1.1") { library in
            Functions(
                make: try library.function("EVP_CIPHER_CTX_new"),
                free: try library.function("EVP_CIPHER_CTX_free"),
                algorithm: try library.function("EVP_aes_256_gcm"),
                begin: try library.function("EVP_CipherInit_ex"),
                add: try library.function("EVP_CipherUpdate"),
                end: try library.function("EVP_CipherFinal_ex"),
                control: try library.function("EVP_CIPHER_CTX_ctrl")
            )
        }
    #endif
}

#if !canImport(CryptoKit)
    private enum Direction: CInt {
        case decrypt = 0
        case encrypt = 1
    }

    private struct Functions: Sendable {
        typealias Bytes = UnsafePointer<UInt8>
        typealias Room = UnsafeMutablePointer<UInt8>

        let make: @convention(c) () -> OpaquePointer?
        let free: @convention(c) (OpaquePointer?) -> Void
        let algorithm: @convention(c) () -> OpaquePointer?
        let begin: @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?, Bytes?, Bytes?, CInt) -> CInt
        let add: @convention(c) (OpaquePointer?, Room?, UnsafeMutablePointer<CInt>?, Bytes?, CInt) -> CInt
        let end: @convention(c) (OpaquePointer?, Room?, UnsafeMutablePointer<CInt>?) -> CInt
        let control: @convention(c) (OpaquePointer?, CInt, CInt, UnsafeMutableRawPointer?) -> CInt

        private static let getTag: CInt = 0x10
        private static let setTag: CInt = 0x11

        /// Encrypts or decrypts.
        ///
        /// - Parameter tag: Written when encrypting, checked when decrypting.
        /// - Returns: The ciphertext or plaintext, or `nil` if the tag doesn't match or libcrypto reports an error.
        func run(
            _ direction: Direction,
            _ text: [UInt8],
            _ key: [UInt8],
            _ nonce: [UInt8],
            _ authenticated: [UInt8],
            _ tag: inout [UInt8]
        ) -> [UInt8]? {
            guard key.count == AESGCM.keyBytes, let textCount = CInt(exactly: text.count),
                let authenticatedCount = CInt(exactly: authenticated.count), let context = make()
            else { return nil }
            defer { free(context) }
            let tagCount = CInt(tag.count)
            var (count, rest): (CInt, CInt) = (0, 0)
            // GCM is a stream mode: the output is as long as the input. Array pointers are valid for the duration of
            // each call.
            var output = [UInt8](repeating: 0, count: text.count)
            guard begin(context, algorithm(), nil, key, nonce, direction.rawValue) == 1,
                add(context, nil, &count, authenticated, authenticatedCount) == 1,
                add(context, &output, &count, text, textCount) == 1, count == textCount
            else { return nil }
            if direction == .decrypt, control(context, Self.setTag, tagCount, &tag) != 1 { return nil }
            // The final call writes nothing but needs a valid pointer.
            var end = [UInt8](repeating: 0, count: 16)
            guard self.end(context, &end, &rest) == 1, rest == 0 else { return nil }
            if direction == .encrypt, control(context, Self.getTag, tagCount, &tag) != 1 { return nil }
            return output
        }
    }
#endif

extension NetworkError {
    #if !canImport(CryptoKit)
        static let noLibcrypto = NetworkError(
            .other,
            during: .queue,
            "libcrypto was not found",
            advice: "install OpenSSL's libssl3"
        )
    #endif

    fileprivate static let cipherFailed = NetworkError(.other, during: .build, "the data could not be encrypted")
}
