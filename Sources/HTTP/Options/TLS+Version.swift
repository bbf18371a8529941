extension TLS {
    /// A version of TLS.
    ///
    /// Older versions aren't supported (RFC 8996).
    public enum Version: String, Sendable, Hashable, CaseIterable, Comparable {
        /// TLS 1.2 (RFC 5246).
        case tls12 = "1.2"
        /// TLS 1.3 (RFC 8446).
        case tls13 = "1.3"

        /// Whether `one` is older than `other`.
        public static func < (one: Version, other: Version) -> Bool { one.rawValue < other.rawValue }
    }
}
