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

    static func value(_ name: some Sequence<UInt8>) -> Value {
        Value(rawValue: values.bits(of: name))
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

    /// A name that holds one of these is secret, whatever is around it.
    private static let parts = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "credential", "apikey", "authorization",
        "cookie", "csrf", "xsrf", "signature", "sessid",
    ]

    private static let headers = NameMatcher(
        words(parts + ["api-key"], Header.secret.rawValue)
            + words(
                [
                    "^dpop$", "^saml", "^x-saml", "^ocp-apim-subscription-key$", "^x-functions-key$",
                    "^x-rapidapi-key$",
                ],
                Header.secret.rawValue
            )
            + words(
                ["auth", "session", "sessionid", "sid", "saml", "otp", "pin"].map { "|\($0)|" },
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
        words(parts, Value([.secret, .part]).rawValue)
            + words(
                [
                    "auth", "assertion", "code", "codeverifier", "pwd", "pass", "pin", "otp", "totp", "mfa", "session",
                    "sessionid", "jsessionid", "sid", "jwt", "sig", "awsaccesskeyid", "samlrequest", "samlresponse",
                    "relaystate", "clientassertion", "card", "cardnumber", "creditcard", "pan", "cvv", "cvc", "cvv2",
                    "ssn", "iban", "pincode", "otpcode", "securitycode", "newpwd", "oldpwd", "sessionkey", "accesskey",
                    "privatekey", "encryptionkey", "signingkey", "subscriptionkey", "ocpapimsubscriptionkey",
                    "xfunctionskey", "xauth", "xsession", "xsessionid", "usersession", "usersessionid",
                ].map { "^\($0)$" },
                Value.secret.rawValue
            )
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
