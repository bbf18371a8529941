/// The cipher suites that are offered, best first, by the names of the TLS library that libcurl has: OpenSSL's are
/// listed by `openssl ciphers`. Unknown names beside known ones are passed over.
/// https://curl.se/docs/ssl-ciphers.html
public struct TLSCiphers: Sendable, Hashable {
    /// Those of TLS 1.2, such as `ECDHE-ECDSA-AES128-GCM-SHA256`; empty for the library's own choice.
    public var tls12: [String]
    /// Those of TLS 1.3, such as `TLS_AES_128_GCM_SHA256`; empty for the library's own choice.
    public var tls13: [String]

    /// These suites; for a version without any, the library's own choice.
    public init(tls12: [String] = [], tls13: [String] = []) {
        self.tls12 = tls12
        self.tls13 = tls13
    }
}
