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
        let number = loop.identities.number(of: identity)
        if number == nil { keepToItself() }
        switch identity.form {
        case .pem(let certificate, let key):
            try set(.certificate, .certificate, certificate.variant(number ?? 0))
            try set(.key, .key, key)
        case .pkcs12(let source):
            try require(easy.set(.certificateForm, "P12"))
            try set(.certificate, .certificate, source.variant(number ?? 0))
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

/// The identities that connections were asked for with. libcurl tells connections apart by the certificate alone, as it
/// was given: a wrong key or passphrase would find the connection of the right one.
struct Identities {
    /// Of a certificate; further ones get connections that are not shared.
    private static let limit = 100
    /// Certificates; likewise.
    private static let certificateLimit = 1_000

    private var known: [TLSIdentity.Source: [TLSIdentity]] = [:]

    /// The identity's place among those of the same certificate; nil where there are too many to remember.
    mutating func number(of identity: TLSIdentity) -> Int? {
        let certificate = identity.certificate
        if let number = known[certificate]?.firstIndex(of: identity) { return number }
        let count = known[certificate]?.count ?? 0
        guard count < Self.limit, count > 0 || known.count < Self.certificateLimit else { return nil }
        known[certificate, default: []].append(identity)
        return count
    }
}

extension TLSIdentity {
    fileprivate var certificate: Source {
        switch form {
        case .pem(let certificate, _), .pkcs12(let certificate): certificate
        }
    }
}

extension TLSIdentity.Source {
    /// The same certificate in words that libcurl takes for another: `./` in its path, line ends behind its bytes.
    fileprivate func variant(_ number: Int) -> Self {
        switch self {
        case _ where number == 0: self
        case .file(let path):
            .file(path: (path.hasPrefix("/") ? "/" : "") + String(repeating: "./", count: number) + path)
        case .bytes(let bytes): .bytes(bytes + Data(repeating: UInt8(ascii: "\n"), count: number))
        }
    }
}

extension TransferRequest {
    /// Whether it only asks: sending it again changes nothing on the server (RFC 9110, 9.2.1).
    fileprivate var isSafe: Bool {
        [.get, .head, .options, .trace].contains(head.method) && body == nil
    }
}
