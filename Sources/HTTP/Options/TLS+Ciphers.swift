extension TLS {
    /// The cipher suites to offer, best first, named as in the TLS library that libcurl uses.
    ///
    /// `openssl ciphers` lists the names for OpenSSL. If some names are known, unknown ones are ignored.
    /// https://curl.se/docs/ssl-ciphers.html
    public struct Ciphers: Sendable, Hashable {
        /// The cipher suites for TLS 1.2, such as `ECDHE-ECDSA-AES128-GCM-SHA256`; empty for the library's default.
        public var tls12: [String]
        /// The cipher suites for TLS 1.3, such as `TLS_AES_128_GCM_SHA256`; empty for the library's default.
        public var tls13: [String]

        /// Creates a list of suites.
        ///
        /// An empty list means the library's default for that version.
        public init(tls12: [String] = [], tls13: [String] = []) {
            self.tls12 = tls12
            self.tls13 = tls13
        }
    }
}
