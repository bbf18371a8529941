import BeagleNetHTTP

/// A guess at the reason for which the TLS library rejected an identity, as the library itself says little.
extension TLS.Identity {
    var problem: String {
        switch form {
        case .pkcs12: passphrase == nil ? "it needs a passphrase, or it is not PKCS #12" : Self.closed
        case .pem(let certificate, let key): problem(of: certificate, key)
        }
    }

    private static let closed = "the passphrase is wrong, or it is not PKCS #12 that this TLS library supports"

    private func problem(of certificate: Source, _ key: Source) -> String {
        guard certificate.contains("CERTIFICATE-----") else { return "there is no PEM certificate" }
        guard key.contains("PRIVATE KEY-----") else { return "there is no PEM private key" }
        guard key.contains("ENCRYPTED") else {
            return "the private key does not match the certificate, or one of them is damaged"
        }
        return passphrase == nil
            ? "the private key is encrypted, but there is no passphrase"
            : "the passphrase is wrong, or the private key does not match the certificate"
    }
}

extension TLS.Identity.Source {
    fileprivate func contains(_ text: String) -> Bool {
        switch self {
        case .bytes(let bytes): return bytes.firstRange(of: Data(text.utf8)) != nil
        case .file(let path):
            // A file that can't be read any more counts as empty.
            let reader = FileReader(path: path)
            guard case .some(.some(let bytes)) = try? reader.next() else { return false }
            return bytes.firstRange(of: Data(text.utf8)) != nil
        }
    }
}
