import BeagleNetHTTP
import CBeagleNetCurl

/// Whom a hop trusts, and how it shows who it is.
extension Hop {
    func configureTLS(_ extras: TransferOptions.Extras?) throws(NetworkError) {
        let floor = extras?.minimumTLS == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
        try require(easy.set(.sslVersion, Int(floor)))
        try configure(extras?.trust ?? .system)
        guard let extras else { return }
        if let identity = extras.identity { try configure(identity) }
        if !extras.pins.isEmpty {
            let pins = extras.pins.map(\.description).sorted().joined(separator: ";")
            try require(easy.set(.pins, pins), for: "TransferOptions.pins", since: "7.44")
        }
        if !extras.ciphers.tls12.isEmpty {
            let names = extras.ciphers.tls12.joined(separator: ":")
            try require(easy.set(.ciphers, names), for: "TransferOptions.ciphers", since: "7.9")
        }
        if !extras.ciphers.tls13.isEmpty {
            let names = extras.ciphers.tls13.joined(separator: ":")
            try require(easy.set(.ciphersOfTLS13, names), for: "TransferOptions.ciphers", since: "7.61")
        }
        let native = extras.trust == .native ? Int(CURLSSLOPT_NATIVE_CA) : 0
        let early = extras.usesEarlyData && request.isSafe ? Self.earlyData : 0
        if native | early != 0 { easy.set(.sslOptions, native | early) }
    }

    /// CURLSSLOPT_EARLYDATA, since libcurl 8.11.
    private static let earlyData = 1 << 6

    private func configure(_ trust: TLSTrust) throws(NetworkError) {
        switch trust {
        case .system:
            guard let file = TrustStore.systemFile else { return }
            try require(easy.set(.caFile, file))
        case .file(let path): try require(easy.set(.caFile, path))
        case .authorities(let bytes):
            try require(easy.set(.authorities, bytes), for: "TransferOptions.trust", since: "7.77")
            easy.set(.caFile, nil)
        case .native: break
        }
        // Debian's default folder of authorities would silently switch off libcurl's cache of parsed ones.
        easy.set(.caPath, nil)
    }

    private func configure(_ identity: TLSIdentity) throws(NetworkError) {
        switch identity.form {
        case .pem(let certificate, let key):
            try set(.certificate, .certificate, certificate)
            try set(.key, .key, key)
        case .pkcs12(let source):
            try require(easy.set(.certificateForm, "P12"))
            try set(.certificate, .certificate, source)
        }
        // Without one OpenSSL would ask for it at the terminal, and all transfers would wait.
        try require(easy.set(.passphrase, identity.passphrase ?? ""))
    }

    private func set(_ file: StringOption, _ blob: BlobOption, _ source: TLSIdentity.Source) throws(NetworkError) {
        switch source {
        case .file(let path): try require(easy.set(file, path))
        case .bytes(let bytes): try require(easy.set(blob, bytes), for: "TransferOptions.identity", since: "7.71")
        }
    }
}

extension TransferRequest {
    /// Whether it only asks: sending it again changes nothing on the server (RFC 9110, 9.2.1).
    fileprivate var isSafe: Bool {
        [.get, .head, .options, .trace].contains(head.method) && body == nil
    }
}
