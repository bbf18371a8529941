/// The namespace of the types that configure TLS.
public enum TLS {
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

    /// The certificate authorities to trust.
    public enum Trust: Sendable, Hashable {
        /// The authorities in the system's file.
        case system
        /// Only the authorities in this PEM file.
        case file(path: String)
        /// Only the authorities in these PEM bytes.
        ///
        /// libcurl parses the bytes for each connection, but caches a parsed file for a day. Parsing takes 15 ms for
        /// 140 authorities and next to nothing for a few. https://curl.se/libcurl/c/CURLOPT_CAINFO_BLOB.html
        case authorities(Data)
        /// The operating system's own store, which isn't a file: the keychain on Apple systems, the certificate store
        /// on Windows.
        ///
        /// The error is `NetworkError.Kind.unsupported` on other systems, where `.system` reads everything there is.
        case native
    }

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
