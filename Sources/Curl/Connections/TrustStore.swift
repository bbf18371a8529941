import BeagleNetHTTP
import CBeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The system's store of certificate authorities.
enum TrustStore {
    /// The file that `SSL_CERT_FILE` names, otherwise libcurl's built-in path, otherwise the first existing file of
    /// those that Linux distributions use. A static binary may run on another system than it was built on.
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
