/// A Digest challenge, which computes the `Authorization` value that answers it (RFC 7616).
package struct DigestChallenge: Sendable, Hashable {
    /// The hash algorithms, from weakest to strongest.
    enum Algorithm: String, CaseIterable {
        case md5 = "MD5"
        case md5Session = "MD5-sess"
        case sha256 = "SHA-256"
        case sha256Session = "SHA-256-sess"

        /// Creates the algorithm with this name, ignoring case.
        init?(named name: String) {
            let name = name.lowercased()
            guard let algorithm = Self.allCases.first(where: { $0.rawValue.lowercased() == name }) else { return nil }
            self = algorithm
        }

        var isSession: Bool { self == .md5Session || self == .sha256Session }

        func hash(_ text: String) throws(NetworkError) -> String {
            // The server may send a realm, nonce or opaque value that isn't UTF-8.
            switch self {
            case .md5, .md5Session: try MD5Digest.hex(of: Data(text.opaqueBytes))
            case .sha256, .sha256Session: try SHA256Digest.hex(of: Data(text.opaqueBytes))
            }
        }
    }

    package let realm: String
    let nonce: String
    let opaque: String?
    let algorithm: Algorithm
    /// Whether the server named `algorithm`, so that `Authorization` must name it too.
    let namesAlgorithm: Bool
    /// Whether `Authorization` includes a nonce count and a client nonce (`qop=auth`).
    ///
    /// Servers of RFC 2069 don't support them.
    let usesQop: Bool
    let hashesUserName: Bool
    /// Whether the server rejected the previous credentials only because their nonce was too old.
    package let isStale: Bool

    /// Selects the strongest challenge that is supported, or returns `nil` if no challenge is.
    package init?(of fields: HTTPFields) {
        let challenges = fields[fields: .wwwAuthenticate].flatMap { Challenge.read($0.opaqueValue) }
        let found = challenges.compactMap(DigestChallenge.init)
        let strengths = Algorithm.allCases
        let best = found.max {
            strengths.firstIndex(of: $0.algorithm) ?? 0 < strengths.firstIndex(of: $1.algorithm) ?? 0
        }
        guard let best else { return nil }
        self = best
    }

    /// Returns the reason why no Digest challenge is supported, or `nil` if one is supported or the server sent none.
    package static func unsupportedReason(in fields: HTTPFields) -> String? {
        let challenges = fields[values: .wwwAuthenticate].flatMap(Challenge.read).filter { $0.scheme == "digest" }
        guard let first = challenges.first, !challenges.contains(where: { DigestChallenge($0) != nil }) else {
            return nil
        }
        let parameters = first.parameters
        guard parameters["realm"] != nil, parameters["nonce"] != nil else {
            return "the server's Digest challenge lacks a realm or nonce"
        }
        if let name = parameters["algorithm"], Algorithm(named: name) == nil {
            let isShown = name.utf8.count <= 32 && name.utf8.allSatisfy(FieldReader.isTokenByte)
            return """
                the server's Digest challenge requires \(isShown ? "the algorithm \(name)" : "an unknown algorithm"); \
                MD5 and SHA-256 are supported
                """
        }
        return "the server's Digest challenge requires a hash of the body (qop=auth-int); only qop=auth is supported"
    }

    init?(_ challenge: Challenge) {
        let parameters = challenge.parameters
        let name = parameters["algorithm"]
        let algorithm = Algorithm(named: name ?? "MD5")
        guard challenge.scheme == "digest", let realm = parameters["realm"], let nonce = parameters["nonce"],
            let algorithm
        else { return nil }
        let qualities = parameters["qop"]?.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        // `auth-int` would require a hash of the body.
        if let qualities, !qualities.contains("auth") { return nil }
        self.realm = realm
        self.nonce = nonce
        opaque = parameters["opaque"]
        self.algorithm = algorithm
        namesAlgorithm = name != nil
        usesQop = qualities != nil
        hashesUserName = parameters["userhash"]?.lowercased() == "true"
        isStale = parameters["stale"]?.lowercased() == "true"
    }

    /// Returns the value of `Authorization` for a request, as opaque text (`String(opaque:)`).
    ///
    /// - Parameters:
    ///   - nonceCount: The number of requests sent with this nonce, including this one.
    ///   - clientNonce: The client nonce: an unpredictable value, new for each request.
    /// - Throws: `NetworkError` if the system doesn't provide the hash algorithm.
    package func authorization(
        for head: HTTPRequest,
        as credentials: Credentials,
        nonceCount: Int,
        clientNonce: String = DigestChallenge.makeClientNonce()
    ) throws(NetworkError) -> String {
        let target = head.path ?? "/"
        let digits = String(nonceCount, radix: 16)
        let number = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        var secret = try algorithm.hash("\(credentials.user):\(realm):\(credentials.password)")
        if algorithm.isSession { secret = try algorithm.hash("\(secret):\(nonce):\(clientNonce)") }
        let message = try algorithm.hash("\(head.method.rawValue):\(target)")
        let middle = usesQop ? "\(nonce):\(number):\(clientNonce):auth" : nonce
        var parts = [
            try user(credentials.user), "realm=\(quoted(realm))", "nonce=\(quoted(nonce))", "uri=\(quoted(target))",
            "response=\"\(try algorithm.hash("\(secret):\(middle):\(message)"))\"",
        ]
        if namesAlgorithm { parts.append("algorithm=\(algorithm.rawValue)") }
        if usesQop { parts += ["qop=auth", "nc=\(number)"] }
        if usesQop || algorithm.isSession { parts.append("cnonce=\(quoted(clientNonce))") }
        if let opaque { parts.append("opaque=\(quoted(opaque))") }
        if hashesUserName { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    /// Returns a random client nonce of 128 bits.
    package static func makeClientNonce() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16) + String(UInt64.random(in: .min ... .max), radix: 16)
    }

    /// Returns the user name parameter: hashed if the server asks for that, encoded as in RFC 8187 if the name isn't
    /// ASCII, otherwise in plain text.
    private func user(_ name: String) throws(NetworkError) -> String {
        if hashesUserName { return "username=\"\(try algorithm.hash("\(name):\(realm)"))\"" }
        guard name.utf8.contains(where: { $0 >= 0x80 }) else { return "username=\(quoted(name))" }
        let digits = Array("0123456789ABCDEF")
        let text = name.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            let isPlain = byte < 0x80 && (character.isLetter || character.isNumber)
            return isPlain ? String(character) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
        return "username*=UTF-8''\(text.joined())"
    }

    private func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }
        return "\"\(escaped.joined())\""
    }
}

extension HTTPField.Name {
    fileprivate static let wwwAuthenticate = Self("WWW-Authenticate")!
}
