import BeagleNetHTTP
import CBeagleNetCurl

/// Whom a hop trusts, and how it shows who it is.
extension Hop {
    func configureTLS() throws(NetworkError) {
        try require(easy.set(.sslVersion, Int(CURL_SSLVERSION_TLSv1_2)))
        let file =
            switch request.options.trust {
            case .system: TrustStore.systemFile
            case .file(let path): path
            }
        guard let file else { return }
        try require(easy.set(.caFile, file))
        // Debian's default folder of authorities would silently switch off libcurl's cache of parsed ones.
        easy.set(.caPath, nil)
    }
}
