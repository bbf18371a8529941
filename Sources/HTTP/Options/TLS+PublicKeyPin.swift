extension TLS {
    /// The SHA-256 digest of a server's public key (its SubjectPublicKeyInfo in DER; RFC 7469, 2.4).
    public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
        /// `sha256//` and the digest in Base64.
        public let description: String

        /// Creates a pin from a digest as curl and browsers write it: in Base64, with or without the prefix `sha256//`.
        ///
        /// - Throws: `NetworkError` of kind `.badConfiguration` if the text isn't the Base64 form of 32 bytes.
        public init(_ text: String) throws(NetworkError) {
            let digits = text.hasPrefix(Self.prefix) ? String(text.dropFirst(Self.prefix.count)) : text
            guard let digest = Data(base64Encoded: digits), digest.count == 32 else {
                throw .badOption(
                    "pins",
                    "a pin is not a SHA-256 digest in Base64",
                    advice: "write sha256// and 44 Base64 characters"
                )
            }
            description = Self.prefix + digits
        }

        private static let prefix = "sha256//"
    }
}
