import BeagleNetHTTP

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
    /// The certificate as the app wrote it.
    var certificate: Source {
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
