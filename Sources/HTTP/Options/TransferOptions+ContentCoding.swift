extension TransferOptions {
    /// A compression of a body (RFC 9110, 8.4.1).
    public struct ContentCoding: RawRepresentable, Sendable, Hashable {
        /// The name in `Accept-Encoding`.
        public let rawValue: String

        /// Creates a coding from its name.
        ///
        /// A transfer that asks for a coding its transport can't decode fails.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// gzip (RFC 1952).
        public static let gzip = ContentCoding(rawValue: "gzip")
        /// deflate (RFC 1950).
        public static let deflate = ContentCoding(rawValue: "deflate")
        /// Brotli (RFC 7932), if the system has libbrotlidec.
        public static let brotli = ContentCoding(rawValue: "br")
        /// Zstandard (RFC 8878), if the system has libzstd.
        public static let zstd = ContentCoding(rawValue: "zstd")
    }
}
