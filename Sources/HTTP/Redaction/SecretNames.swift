/// The usual names of secrets.
package enum SecretNames {
    /// The meaning of a header's name.
    struct Header: OptionSet {
        let rawValue: UInt16

        /// The values are secret.
        static let secret = Header(rawValue: 1)
        /// The name contains a word that usually denotes a secret.
        static let word = Header(rawValue: 1 << 1)
        /// The name ends in `-type`, and the value only describes the type of a secret.
        static let type = Header(rawValue: 1 << 2)
        /// The value is a URL.
        static let url = Header(rawValue: 1 << 3)
        /// The value contains URLs: `Link` or `Refresh`.
        static let urls = Header(rawValue: 1 << 4)
        /// The value is an authentication scheme and credentials.
        static let credentials = Header(rawValue: 1 << 5)
        /// The value is a challenge, or a response to credentials, with parameters.
        static let challenge = Header(rawValue: 1 << 6)
        /// `Cookie`
        static let cookies = Header(rawValue: 1 << 7)
        /// `Set-Cookie`
        static let cookie = Header(rawValue: 1 << 8)

        var isSecret: Bool { contains(.secret) || (contains(.word) && !contains(.type)) }
    }

    /// The meaning of a value's name.
    struct Value: OptionSet {
        let rawValue: UInt16

        /// The value is secret.
        static let secret = Value(rawValue: 1)
        /// The name ends in `type`, and the value only describes the type of a secret.
        static let type = Value(rawValue: 1 << 1)
        /// The name is `key`, which has many other meanings.
        static let key = Value(rawValue: 1 << 2)
        /// The name is `state`, which is an OAuth secret only next to a `signIn` name.
        static let state = Value(rawValue: 1 << 3)
        /// A name that makes a `state` next to it an OAuth secret.
        static let signIn = Value(rawValue: 1 << 4)
        /// The value may be a GraphQL document.
        static let document = Value(rawValue: 1 << 5)
        /// The name contains a word that denotes a secret in any context.
        static let part = Value(rawValue: 1 << 6)
        /// The value is the name of the `named` value next to it.
        static let naming = Value(rawValue: 1 << 7)
        /// The name of the value is given by the `naming` value next to it.
        static let named = Value(rawValue: 1 << 8)

        var isSecret: Bool { contains(.secret) && !contains(.type) }
        /// Whether the value is secret even in plain text, in which `code` and `card` are ordinary words.
        var isSecretInPlainText: Bool { contains(.part) && isSecret }
    }

    static func header(_ name: String) -> Header {
        Header(rawValue: name.withUTF8Bytes(headers.bits))
    }

    static func header(_ name: ArraySlice<UInt8>) -> Header {
        Header(rawValue: headers.bits(of: name))
    }

    /// Returns the meaning of a value's name. `X-Sig` means the same as `sig`, but without a separator, `xcode` isn't
    /// `code`.
    static func value(_ name: ArraySlice<UInt8>) -> Value {
        let isExtension =
            name.count > 2 && name[name.startIndex] | 0x20 == UInt8(ascii: "x")
            && "-_".utf8.contains(name[name.startIndex + 1])
        return Value(rawValue: values.bits(of: isExtension ? name.dropFirst(2) : name))
    }

    /// Returns the name in lower case, without separators.
    static func plain(_ name: String) -> String {
        name.lowercased().filter { !separators.contains($0) }
    }

    /// Returns the decoded name of an item.
    ///
    /// Invalid escapes stay unchanged.
    package static func decoded(_ name: Substring) -> String {
        guard name.utf8.contains(UInt8(ascii: "%")) else { return String(name) }
        let bytes = Array(name.utf8)
        return String(decoding: DecodedText(bytes, 0..<bytes.count, .escapes).bytes, as: UTF8.self)
    }

    private static let separators = "-_.[] "

    /// Words that make a name secret if they occur anywhere in it. `~` is an optional separator.
    private static let parts = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "credential", "api~key", "authorization",
        "cookie", "csrf", "xsrf", "signature", "sess~id",
    ]

    /// Words that make a name secret if they are at its end.
    private static let endings = [
        "access~key", "access~key~id", "private~key", "encryption~key", "signing~key", "subscription~key",
        "session~key", "assertion", "jwt", "pwd",
    ]

    /// Secret names. Each is also secret with the prefix `X-`.
    private static let names = [
        "auth", "code", "code~verifier", "pass", "pin", "otp", "totp", "mfa", "session", "session~id", "jsession~id",
        "sid", "sig", "dpop", "saml~request", "saml~response", "relay~state", "card", "card~number", "credit~card",
        "pan", "cvv", "cvc", "cvv2", "ssn", "iban", "pin~code", "otp~code", "security~code", "functions~key",
        "user~session", "user~session~id",
    ]

    /// Returns the words shared by queries, forms, JSON, GraphQL and header fields.
    private static func secrets(_ part: UInt16, _ whole: UInt16) -> [(String, UInt16)] {
        words(parts, part) + words(endings.map { "\($0)$" } + names.map { "^\($0)$" }, whole)
    }

    private static let headers = NameMatcher(
        secrets(Header.secret.rawValue, Header.secret.rawValue)
            + words(names.map { "^x~\($0)$" } + ["^saml", "^x-saml"], Header.secret.rawValue)
            + words(
                ["auth", "session", "sessionid", "sid", "saml", "otp", "pin", "jwt", "assertion"].map { "|\($0)|" },
                Header.word.rawValue
            )
            + words(["-type$"], Header.type.rawValue)
            + words(["^location$", "^content-location$", "^referer$", "^origin$"], Header.url.rawValue)
            + words(["^link$", "^refresh$"], Header.urls.rawValue)
            + words(["^authorization$", "^proxy-authorization$"], Header.credentials.rawValue)
            + words(
                ["^www-authenticate$", "^proxy-authenticate$", "^authentication-info$", "^proxy-authentication-info$"],
                Header([.secret, .challenge]).rawValue
            )
            + words(["^cookie$"], Header.cookies.rawValue) + words(["^set-cookie$"], Header.cookie.rawValue),
        separators: "-_",
        skipsSeparators: false
    )

    private static let values = NameMatcher(
        secrets(Value([.secret, .part]).rawValue, Value.secret.rawValue)
            + words(["^xauth$", "^xsession$", "^xsessionid$"], Value.secret.rawValue)
            + words(["type$"], Value.type.rawValue) + words(["^key$"], Value.key.rawValue)
            + words(["^state$"], Value.state.rawValue)
            + words(["^code$", "^session$", "^sessionid$", "^sid$", "^sessionstate$"], Value.signIn.rawValue)
            + words(["^query$", "^document$", "^mutation$"], Value.document.rawValue)
            + words(["^name$", "^key$", "^header$", "^field$"], Value.naming.rawValue)
            + words(["^value$"], Value.named.rawValue),
        separators: separators,
        skipsSeparators: true
    )

    private static func words(_ words: [String], _ bits: UInt16) -> [(String, UInt16)] {
        words.map { ($0, bits) }
    }
}

extension String {
    /// Calls a function with the bytes of this text, without copying them if they are contiguous.
    fileprivate func withUTF8Bytes(_ look: (UnsafeBufferPointer<UInt8>) -> UInt16) -> UInt16 {
        var text = self
        return text.withUTF8(look)
    }
}
