/// The names under which secrets usually travel.
enum SecretNames {
    /// Whether a header, in lower case, is one of them.
    static func header(_ name: String) -> Bool {
        if headers.contains(name) { return true }
        if parts.contains(where: { name.contains($0) }) || name.contains("api-key") || name.contains("api_key") {
            return true
        }
        let words = name.split { $0 == "-" || $0 == "_" }
        return words.contains { ["auth", "session", "sessionid", "sid", "saml", "otp", "pin"].contains($0) }
            && !name.hasSuffix("-type")
    }

    /// Whether a `plain` name of a value is one of them.
    static func value(_ name: String) -> Bool {
        values.contains(name) || parts.contains { name.contains($0) }
    }

    /// The name in lower case, without what separates its words.
    static func plain(_ name: String) -> String {
        name.lowercased().filter { !"-_.[] ".contains($0) }
    }

    /// The text that an item's name stands for; broken escapes stay as they are.
    static func decoded(_ name: Substring) -> String {
        guard name.utf8.contains(UInt8(ascii: "%")) else { return String(name) }
        var bytes: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let escaped = UInt8(digits, radix: 16) {
                bytes.append(escaped)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A name that holds one of these is secret, whatever is around it.
    private static let parts = [
        "token", "secret", "password", "passwd", "passphrase", "credential", "apikey", "authorization", "cookie",
        "csrf",
        "xsrf", "signature",
    ]

    private static let headers: Set<String> = [
        "www-authenticate", "proxy-authenticate", "authentication-info", "proxy-authentication-info", "dpop",
    ]

    private static let values: Set<String> = [
        "auth", "assertion", "clientassertion", "code", "codeverifier", "pwd", "pass", "pin", "otp", "totp", "mfa",
        "session", "sessionid", "sid", "jwt", "sig", "awsaccesskeyid", "samlrequest", "samlresponse", "relaystate",
        "card", "cardnumber", "creditcard", "pan", "cvv", "cvc", "cvv2", "ssn", "iban",
    ]
}
