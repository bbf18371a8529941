extension Redactor {
    /// What becomes of a secret.
    public struct Mode: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case mask, drop
            case hash(Key)
        }

        let kind: Kind

        /// `REDACTED` stands in its place.
        public static let mask = Mode(kind: .mask)
        /// The item that holds it goes altogether: the header, the item of a query or form, the member of a JSON object,
        /// the part of a multipart body. In running text, where there are no items, in an array, and in place of a
        /// `state` of JSON that only a later member tells to be one of OAuth's, `REDACTED` stands.
        public static let drop = Mode(kind: .drop)

        /// `REDACTED:h:` and 12 hexadecimal digits of its HMAC-SHA256 stand in its place, so that equal secrets look equal
        /// and nobody without the key can try which it was. A secret of more than 64 KiB, and every one on a system
        /// without libcrypto, has `REDACTED` in its place.
        ///
        /// - Parameter key: by default a new random one, so that secrets are equal within what one redactor, or its
        ///   copies, have redacted.
        public static func hash(_ key: Key = Key()) -> Mode {
            Mode(kind: .hash(key))
        }
    }

    /// The key of ``Mode/hash(_:)``. It is in no description, mirror or encoding.
    public struct Key: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        static let hashDigits = 12

        private let bytes: Data

        /// A random key of 32 bytes.
        public init() {
            var generator = SystemRandomNumberGenerator()
            bytes = Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        }

        /// A key that is kept elsewhere; one of fewer than 16 random bytes could be guessed.
        public init(_ bytes: Data) {
            self.bytes = bytes
        }

        /// Says that there is a key, and not which.
        public var description: String { "Redactor.Key(\(Redactor.placeholder))" }
        /// Says that there is a key, and not which.
        public var debugDescription: String { description }
        /// A mirror without children.
        public var customMirror: Mirror { Mirror(self, children: []) }

        /// The first digits of a secret's code; nil where the system has none to give.
        func hash(of secret: [UInt8]) -> String? {
            guard let code = HMACSHA256.bytes(of: secret, key: bytes) else { return nil }
            return Hexadecimal.text(code.prefix(Self.hashDigits / 2))
        }
    }
}
