import BeagleNetHTTP
import CBeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Which file of certificate authorities stands for "the system's".
enum TrustStore {
    /// `SSL_CERT_FILE` where it is set, else what libcurl was built with, else the first file that exists of those
    /// that Linux distributions use: a static program meets other systems than it was built on.
    static let systemFile: String? = {
        if let named = getenv("SSL_CERT_FILE") { return String(cString: named) }
        return ([builtIn].compactMap(\.self) + wellKnown).first { access($0, R_OK) == 0 }
    }()

    private static var builtIn: String? {
        guard let easy = EasyHandle(FieldList([:], lines: [])) else { return nil }
        return easy.string(CURLINFO_CAINFO)
    }

    private static let wellKnown = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]
}
