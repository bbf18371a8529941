/// A certificate and its private key, with which a client shows a server who it is. No description or dump shows it.
///
/// What cannot be used, such as a key that is not the certificate's, ends a transfer with
/// `NetworkError.Kind.badConfiguration` before anything is sent.
public struct TLSIdentity: Sendable, Hashable {
    package enum Source: Sendable, Hashable {
        case file(path: String)
        case bytes(Data)
    }

    package enum Form: Sendable, Hashable {
        case pem(certificate: Source, key: Source)
        case pkcs12(Source)
    }

    package let form: Form
    package let passphrase: String?

    /// An identity in PEM files.
    ///
    /// - Parameters:
    ///   - certificatePath: the client's certificate, followed by those of authorities between where there are any.
    ///   - keyPath: its private key; nil where that is in the same file.
    ///   - passphrase: what opens an encrypted key.
    public init(certificatePath: String, keyPath: String? = nil, passphrase: String? = nil) {
        form = .pem(certificate: .file(path: certificatePath), key: .file(path: keyPath ?? certificatePath))
        self.passphrase = passphrase
    }

    /// An identity in PEM bytes.
    ///
    /// - Parameters:
    ///   - certificate: the client's certificate, followed by those of authorities between where there are any.
    ///   - key: its private key; nil where that is in the same bytes.
    ///   - passphrase: what opens an encrypted key.
    public init(certificate: Data, key: Data? = nil, passphrase: String? = nil) {
        form = .pem(certificate: .bytes(certificate), key: .bytes(key ?? certificate))
        self.passphrase = passphrase
    }

    /// An identity in a PKCS #12 file (RFC 7292), often named `.p12` or `.pfx`. OpenSSL 3 does not open those that are
    /// encrypted as before 2021 (RC2).
    ///
    /// - Parameters:
    ///   - pkcs12Path: the file.
    ///   - passphrase: what opens it.
    public init(pkcs12Path: String, passphrase: String? = nil) {
        form = .pkcs12(.file(path: pkcs12Path))
        self.passphrase = passphrase
    }

    /// An identity in the bytes of a PKCS #12 file.
    ///
    /// - Parameters:
    ///   - pkcs12: the bytes.
    ///   - passphrase: what opens them.
    public init(pkcs12: Data, passphrase: String? = nil) {
        form = .pkcs12(.bytes(pkcs12))
        self.passphrase = passphrase
    }
}

extension TLSIdentity: CustomStringConvertible, CustomReflectable {
    /// Only that there is one.
    public var description: String { "TLSIdentity(\(Redactor.placeholder))" }
    /// Nothing: `dump` shows what a mirror has.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
