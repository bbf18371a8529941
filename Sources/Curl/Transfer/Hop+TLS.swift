import BeagleNetHTTP
import CBeagleNetCurl

/// The TLS options of a hop: trust, identity, pins and ciphers.
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
            // GnuTLS treats them as its priority string, which also sets versions.
            let isSet = !Self.isOfGnuTLS && easy.set(.ciphers, names)
            try require(isSet, for: "TransferOptions.ciphers", since: "7.9")
        }
        if !extras.ciphers.tls13.isEmpty {
            let names = extras.ciphers.tls13.joined(separator: ":")
            try require(easy.set(.ciphersOfTLS13, names), for: "TransferOptions.ciphers", since: "7.61")
        }
        let native = extras.trust == .native ? Int(CURLSSLOPT_NATIVE_CA) : 0
        let early = extras.usesEarlyData && request.isSafe ? Self.earlyData : 0
        if native | early != 0 { easy.set(.sslOptions, native | early) }
    }

    private static let isOfGnuTLS = CurlTransport.Capabilities.current.tls.isOfGnuTLS
    /// The value of CURLSSLOPT_EARLYDATA, which libcurl 8.11 introduced.
    private static let earlyData = 1 << 6

    private func configure(_ trust: TLS.Trust) throws(NetworkError) {
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
        // Debian's default CA directory would silently disable libcurl's cache of parsed CAs.
        easy.set(.caPath, nil)
    }

    private func configure(_ identity: TLS.Identity) throws(NetworkError) {
        let certificate = loop.identities.certificate(of: identity)
        if certificate == nil { useUnsharedConnection() }
        try set(.certificate, .certificate, certificate ?? identity.certificate)
        switch identity.form {
        case .pem(_, let key): try set(.key, .key, key)
        case .pkcs12: try require(easy.set(.certificateForm, "P12"))
        }
        // Without a passphrase, OpenSSL would prompt for it on the terminal and block all transfers.
        try require(easy.set(.passphrase, identity.passphrase ?? ""))
    }

    private func set(_ file: StringOption, _ blob: BlobOption, _ source: TLS.Identity.Source) throws(NetworkError) {
        switch source {
        case .file(let path): try require(easy.set(file, path))
        case .bytes(let bytes):
            // With GnuTLS, libcurl accepts the bytes but doesn't present the certificate to the server.
            let isSet = !Self.isOfGnuTLS && easy.set(blob, bytes)
            try require(isSet, for: "TransferOptions.identity as bytes", since: "7.71")
        }
    }
}

/// The TLS identities in use. libcurl distinguishes connections only by the certificate as written, so a request with a
/// wrong key or passphrase could reuse the connection of the right one. Each identity that shares a certificate
/// therefore writes it differently.
struct IdentityRegistry {
    /// The maximum number of identities of one certificate; further ones don't share connections.
    private static let limit = 100
    /// The maximum number of certificates; further ones don't share connections.
    private static let certificateLimit = 1_000

    /// The identities of each certificate (without padding), each with the padding that distinguishes it.
    private var known: [TLS.Identity.Source: [(identity: TLS.Identity, padding: Int)]] = [:]

    /// Returns the certificate of an identity with its distinguishing padding, or `nil` if there are too many to
    /// remember.
    mutating func certificate(of identity: TLS.Identity) -> TLS.Identity.Source? {
        let certificate = identity.certificate
        let bare = certificate.bare
        let others = known[bare] ?? []
        if let same = others.first(where: { $0.identity == identity }) { return bare.padded(same.padding) }
        guard others.count < Self.limit, !others.isEmpty || known.count < Self.certificateLimit else { return nil }
        let padding = max(certificate.padding, (others.last?.padding ?? -1) + 1)
        known[bare, default: []].append((identity, padding))
        return bare.padded(padding)
    }
}

extension TLS.Identity {
    fileprivate var certificate: Source {
        switch form {
        case .pem(let certificate, _), .pkcs12(let certificate): certificate
        }
    }
}

/// Different spellings of the same certificate: `./` in its path, or line ends after its bytes.
extension TLS.Identity.Source {
    /// The source without padding.
    fileprivate var bare: Self {
        switch self {
        case .file(let path):
            let parts = path.utf8.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
            let root = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
            return .file(path: root + parts.map { String(Substring($0)) }.joined(separator: "/"))
        case .bytes(let bytes): return .bytes(Data(bytes.dropLast(padding)))
        }
    }

    /// The number of line ends after the bytes, all of which must be kept; `./` in a path may be dropped.
    fileprivate var padding: Int {
        switch self {
        case .file: 0
        case .bytes(let bytes): bytes.reversed().prefix { $0 == UInt8(ascii: "\n") }.count
        }
    }

    fileprivate func padded(_ count: Int) -> Self {
        switch self {
        case .file(let path):
            let root = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
            let rest = String(Substring(path.utf8.dropFirst(root.utf8.count)))
            return .file(path: root + String(repeating: "./", count: count) + rest)
        case .bytes(let bytes): return .bytes(bytes + Data(repeating: UInt8(ascii: "\n"), count: count))
        }
    }
}

extension TransferRequest {
    /// Whether sending the request again changes nothing on the server (RFC 9110, 9.2.1).
    fileprivate var isSafe: Bool {
        head.method.isSafe && body == nil
    }
}
