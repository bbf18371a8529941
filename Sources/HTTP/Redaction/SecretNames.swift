/// The names under which secrets usually travel.
package enum SecretNames {
    /// What the name of a header tells.
    struct Header: OptionSet {
        let rawValue: UInt16

        /// Its values are secret.
        static let secret = Header(rawValue: 1)
        /// It has a word that is mostly a secret's.
        static let word = Header(rawValue: 1 << 1)
        /// It ends in `-type`, and only tells of what sort something is.
        static let type = Header(rawValue: 1 << 2)
        /// Its value is a URL.
        static let url = Header(rawValue: 1 << 3)
        /// `Link` or `Refresh`: there are URLs in its value.
        static let urls = Header(rawValue: 1 << 4)
        /// A scheme and credentials.
        static let credentials = Header(rawValue: 1 << 5)
        /// A challenge, or what follows one, with parameters.
        static let challenge = Header(rawValue: 1 << 6)
        /// `Cookie`
        static let cookies = Header(rawValue: 1 << 7)
        /// `Set-Cookie`
        static let cookie = Header(rawValue: 1 << 8)

        var isSecret: Bool { contains(.secret) || (contains(.word) && !contains(.type)) }
    }

    /// What the name of a value tells.
    struct Value: OptionSet {
        let rawValue: UInt16

        /// The value is secret.
        static let secret = Value(rawValue: 1)
        /// It ends in `type`, and only tells of what sort something is.
        static let type = Value(rawValue: 1 << 1)
        /// `key`, which is a word for much else.
        static let key = Value(rawValue: 1 << 2)
        /// `state`, which is a secret of OAuth's beside a `signIn` alone.
        static let state = Value(rawValue: 1 << 3)
        /// A name that OAuth's `state` stands beside.
        static let signIn = Value(rawValue: 1 << 4)
        /// A GraphQL document, where its value reads like one.
        static let document = Value(rawValue: 1 << 5)
        /// It holds a word that is a secret's in any surroundings.
        static let part = Value(rawValue: 1 << 6)
        /// Its value is what the `named` one beside it is called.
        static let naming = Value(rawValue: 1 << 7)
        /// A value that is called what the `naming` one beside it says.
        static let named = Value(rawValue: 1 << 8)

        var isSecret: Bool { contains(.secret) && !contains(.type) }
        /// Whether it is secret in running text, too, where `code` and `card` are ordinary words.
        var isSecretWithin: Bool { contains(.part) && isSecret }
    }

    static func header(_ name: String) -> Header {
        Header(rawValue: name.withUTF8Bytes(headers.bits))
    }

    static func header(_ name: ArraySlice<UInt8>) -> Header {
        Header(rawValue: headers.bits(of: name))
    }

    /// `X-Sig` is what `sig` is. Without a separator `xcode` is another word than `code`.
    static func value(_ name: ArraySlice<UInt8>) -> Value {
        let isExtension =
            name.count > 2 && name[name.startIndex] | 0x20 == UInt8(ascii: "x")
            && "-_".utf8.contains(name[name.startIndex + 1])
        return Value(rawValue: values.bits(of: isExtension ? name.dropFirst(2) : name))
    }

    /// The name in lower case, without what separates its words.
    static func plain(_ name: String) -> String {
        name.lowercased().filter { !separators.contains($0) }
    }

    /// The text that an item's name stands for; broken escapes stay as they are.
    package static func decoded(_ name: Substring) -> String {
        guard name.utf8.contains(UInt8(ascii: "%")) else { return String(name) }
        let bytes = Array(name.utf8)
        return String(decoding: DecodedText(bytes, 0..<bytes.count, .escapes).bytes, as: UTF8.self)
    }

    private static let separators = "-_.[] "

    /// A name that holds one of these is secret, whatever is around it. `~` stands between two words.
    private static let parts = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "credential", "api~key", "authorization",
        "cookie", "csrf", "xsrf", "signature", "sess~id",
    ]

    /// A name that ends with one of these is secret.
    private static let endings = [
        "access~key", "access~key~id", "private~key", "encryption~key", "signing~key", "subscription~key",
        "session~key", "assertion", "jwt", "pwd",
    ]

    /// Secret names. Each is secret with `X-` in front of it as well.
    private static let names = [
        "auth", "code", "code~verifier", "pass", "pin", "otp", "totp", "mfa", "session", "session~id", "jsession~id",
        "sid", "sig", "dpop", "saml~request", "saml~response", "relay~state", "card", "card~number", "credit~card",
        "pan", "cvv", "cvc", "cvv2", "ssn", "iban", "pin~code", "otp~code", "security~code", "functions~key",
        "user~session", "user~session~id",
    ]

    /// What queries, forms, JSON, GraphQL and header fields have in common.
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
    /// What `look` makes of the bytes of this text, which are not copied where they lie side by side.
    fileprivate func withUTF8Bytes(_ look: (UnsafeBufferPointer<UInt8>) -> UInt16) -> UInt16 {
        var text = self
        return text.withUTF8(look)
    }
}
