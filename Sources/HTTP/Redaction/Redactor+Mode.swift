extension Redactor {
    /// The treatment of a secret.
    public struct Mode: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case mask, drop
            case hash(Key)
        }

        let kind: Kind

        /// A mode that replaces the secret with `REDACTED`.
        public static let mask = Mode(kind: .mask)
        /// A mode that removes the item that contains the secret: the header, the item of a query or form, the member
        /// of a JSON object, or the part of a multipart body.
        ///
        /// `REDACTED` replaces the secret if there is no such item: in plain text, in an array, and for a JSON
        /// `state` that is identified as a secret only by a later member.
        public static let drop = Mode(kind: .drop)

        /// Returns a mode that replaces the secret with `REDACTED:h:` and 12 hexadecimal digits of its HMAC-SHA256.
        ///
        /// Equal secrets look equal, and without the key, the secret can't be found by trying. A secret longer than 64
        /// KiB is replaced with `REDACTED`, as are all secrets on a system without libcrypto.
        ///
        /// - Parameter key: The key of the HMAC. The default is a new random key, which makes equal secrets
        ///   recognizable within the output of one redactor and its copies.
        public static func hash(_ key: Key = Key()) -> Mode {
            Mode(kind: .hash(key))
        }
    }

    /// The key of ``Mode/hash(_:)``.
    ///
    /// Descriptions, mirrors and encodings don't contain it.
    public struct Key: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        static let hashDigits = 12

        private let bytes: Data

        /// Creates a random key of 32 bytes.
        public init() {
            var generator = SystemRandomNumberGenerator()
            bytes = Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        }

        /// Creates a key from bytes that the app stores.
        ///
        /// A key with fewer than 16 random bytes could be guessed.
        public init(_ bytes: Data) {
            self.bytes = bytes
        }

        /// A placeholder for the key.
        public var description: String { "Redactor.Key(\(Redactor.placeholder))" }
        /// A placeholder for the key.
        public var debugDescription: String { description }
        /// A mirror without children.
        public var customMirror: Mirror { Mirror(self, children: []) }

        /// Returns the first digits of a secret's HMAC, or `nil` if the system doesn't support HMAC.
        func hash(of secret: [UInt8]) -> String? {
            guard let code = HMACSHA256.bytes(of: secret, key: bytes) else { return nil }
            return Hexadecimal.text(code.prefix(Self.hashDigits / 2))
        }
    }
}
