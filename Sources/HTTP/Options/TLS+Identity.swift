extension TLS {
    /// A client certificate and its private key, which authenticate the client to a server.
    ///
    /// Descriptions and dumps don't show it. An unusable identity, such as one whose key doesn't belong to the
    /// certificate, ends a transfer with `NetworkError.Kind.badConfiguration` before anything is sent.
    public struct Identity: Sendable, Hashable {
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

        /// Creates an identity from PEM files.
        ///
        /// - Parameters:
        ///   - certificatePath: The path of the client's certificate, followed by any intermediate certificates.
        ///   - keyPath: The path of its private key, or `nil` if the key is in the same file.
        ///   - passphrase: The passphrase of an encrypted key.
        public init(certificatePath: String, keyPath: String? = nil, passphrase: String? = nil) {
            form = .pem(certificate: .file(path: certificatePath), key: .file(path: keyPath ?? certificatePath))
            self.passphrase = passphrase
        }

        /// Creates an identity from PEM bytes.
        ///
        /// - Parameters:
        ///   - certificate: The client's certificate, followed by any intermediate certificates.
        ///   - key: Its private key, or `nil` if the key is in the same bytes.
        ///   - passphrase: The passphrase of an encrypted key.
        public init(certificate: Data, key: Data? = nil, passphrase: String? = nil) {
            form = .pem(certificate: .bytes(certificate), key: .bytes(key ?? certificate))
            self.passphrase = passphrase
        }

        /// Creates an identity from a PKCS #12 file (RFC 7292), often named `.p12` or `.pfx`.
        ///
        /// OpenSSL 3 doesn't open files that use the encryption common before 2021 (RC2).
        ///
        /// - Parameters:
        ///   - pkcs12Path: The path of the file.
        ///   - passphrase: The passphrase of the file.
        public init(pkcs12Path: String, passphrase: String? = nil) {
            form = .pkcs12(.file(path: pkcs12Path))
            self.passphrase = passphrase
        }

        /// Creates an identity from the bytes of a PKCS #12 file.
        ///
        /// - Parameters:
        ///   - pkcs12: The bytes of the file.
        ///   - passphrase: The passphrase of the file.
        public init(pkcs12: Data, passphrase: String? = nil) {
            form = .pkcs12(.bytes(pkcs12))
            self.passphrase = passphrase
        }
    }
}

extension TLS.Identity: CustomStringConvertible, CustomReflectable {
    /// A placeholder for the identity.
    public var description: String { "TLS.Identity(\(Redactor.placeholder))" }
    /// A mirror without children, because `dump` prints a mirror's children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
