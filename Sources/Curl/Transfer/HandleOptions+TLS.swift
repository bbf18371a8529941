import BeagleNetHTTP
import CBeagleNetCurl

/// The TLS options: trust, identity, pins and ciphers.
extension HandleOptions {
    /// The options for a server if the app sets none.
    private static let plainTLS: [Setting] = {
        var settings: [Setting] = []
        add(.tls12, .system, to: &settings)
        return settings
    }()

    private static func add(_ minimum: TLS.Version, _ trust: TLS.Trust, to settings: inout [Setting]) {
        settings.append(.long(.sslVersion, Int(minimum == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2)))
        add(trust, .caFile, .authorities, .caPath, to: &settings)
    }

    /// Adds the options for a server with TLS.
    mutating func addTLS(_ extras: TransferOptions.Extras?, _ request: TransferRequest, _ context: borrowing Context) {
        // Assigned, because plain requests then share one list.
        guard let extras else { return settings = Self.plainTLS }
        Self.add(extras.minimumTLS, extras.trust, to: &settings)
        if let identity = extras.identity { add(identity, context.certificate ?? identity.certificate) }
        if !extras.pins.isEmpty { add(.pins, extras.pins.map(\.description).sorted().joined(separator: ";")) }
        let ciphers = extras.ciphers
        if !ciphers.tls12.isEmpty { add(.ciphers, ciphers.tls12.joined(separator: ":")) }
        if !ciphers.tls13.isEmpty { add(.ciphersOfTLS13, ciphers.tls13.joined(separator: ":")) }
        let native = extras.trust == .native ? Int(CURLSSLOPT_NATIVE_CA) : 0
        // A message whose repetition changes nothing on the server (RFC 9110, 9.2.1).
        let isSafe = request.head.method.isSafe && request.body == nil
        let early = extras.usesEarlyData && isSafe ? Self.earlyData : 0
        if native | early != 0 { add(.sslOptions, native | early) }
    }

    /// The value of CURLSSLOPT_EARLYDATA, which libcurl 8.11 introduced.
    private static let earlyData = 1 << 6

    /// Adds the authorities trusted for a server or proxy, with the options for their file, bytes and folder.
    static func add(
        _ trust: TLS.Trust,
        _ file: StringOption,
        _ bytes: BlobOption,
        _ folder: StringOption,
        to settings: inout [Setting]
    ) {
        switch trust {
        case .system:
            guard let path = TrustStore.systemFile else { return }
            settings.append(.string(file, path))
        case .file(let path): settings.append(.string(file, path))
        case .authorities(let authorities): settings += [.blob(bytes, authorities), .string(file, nil)]
        case .native: if folder == .proxyCAPath { return }
        }
        // Debian's default CA directory would silently disable libcurl's cache of parsed CAs.
        settings.append(.string(folder, nil))
    }

    private mutating func add(_ identity: TLS.Identity, _ certificate: TLS.Identity.Source) {
        add(.certificate, .certificate, certificate)
        switch identity.form {
        case .pem(_, let key): add(.key, .key, key)
        case .pkcs12: add(.certificateForm, "P12")
        }
        // Without a passphrase, OpenSSL would prompt for it on the terminal and block all transfers.
        add(.passphrase, identity.passphrase ?? "")
    }

    private mutating func add(_ file: StringOption, _ blob: BlobOption, _ source: TLS.Identity.Source) {
        switch source {
        case .file(let path): add(file, path)
        case .bytes(let bytes): add(blob, bytes)
        }
    }
}
