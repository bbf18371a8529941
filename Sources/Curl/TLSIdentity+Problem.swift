import BeagleNetHTTP

/// Why an identity could not be used, found out when the TLS library has refused it: it says little.
extension TLSIdentity {
    var problem: String {
        switch form {
        case .pkcs12: passphrase == nil ? "it does not open without a passphrase, or is no PKCS #12" : Self.closed
        case .pem(let certificate, let key): problem(of: certificate, key)
        }
    }

    private static let closed = "the passphrase does not open it, or it is no PKCS #12 that this TLS library knows"

    private func problem(of certificate: Source, _ key: Source) -> String {
        guard certificate.contains("CERTIFICATE-----") else { return "there is no certificate in PEM" }
        guard key.contains("PRIVATE KEY-----") else { return "there is no private key in PEM" }
        guard key.contains("ENCRYPTED") else {
            return "the private key is not that of the certificate, or one of them is damaged"
        }
        return passphrase == nil
            ? "the private key is encrypted, and there is no passphrase"
            : "the passphrase does not open the private key, or it is not that of the certificate"
    }
}

extension TLSIdentity.Source {
    fileprivate func contains(_ text: String) -> Bool {
        switch self {
        case .bytes(let bytes): return bytes.firstRange(of: Data(text.utf8)) != nil
        case .file(let path):
            // One that cannot be read any more holds nothing.
            let reader = FileReader(path: path)
            guard case .some(.some(let bytes)) = try? reader.next() else { return false }
            return bytes.firstRange(of: Data(text.utf8)) != nil
        }
    }
}
