/// A challenge of Digest and its answer (RFC 7616): pure functions of their values.
package struct DigestChallenge: Sendable, Hashable {
    /// Ways to hash, the better the later.
    enum Algorithm: String, CaseIterable {
        case md5 = "MD5"
        case md5Session = "MD5-sess"
        case sha256 = "SHA-256"
        case sha256Session = "SHA-256-sess"

        /// The algorithm of this name, in any case.
        init?(named name: String) {
            let name = name.lowercased()
            guard let algorithm = Self.allCases.first(where: { $0.rawValue.lowercased() == name }) else { return nil }
            self = algorithm
        }

        var isSession: Bool { self == .md5Session || self == .sha256Session }

        func hash(_ text: String) throws(NetworkError) -> String {
            // Realm, nonce and opaque are what the server sent, be it UTF-8 or not.
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
    /// Whether the server named `algorithm`, and is answered with it.
    let namesAlgorithm: Bool
    /// Whether the answer counts and is mixed with a word of ours (`qop=auth`); servers of RFC 2069 don't know that.
    let hasQuality: Bool
    let hidesUser: Bool
    /// Whether the last answer was right but for the age of its nonce.
    package let isStale: Bool

    /// The best challenge that can be answered; nil where there is none.
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

    /// Why none of the Digest challenges can be answered; `nil` if one can, or if there are none.
    package static func obstacle(in fields: HTTPFields) -> String? {
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
        // auth-int would want the body's hash.
        if let qualities, !qualities.contains("auth") { return nil }
        self.realm = realm
        self.nonce = nonce
        opaque = parameters["opaque"]
        self.algorithm = algorithm
        namesAlgorithm = name != nil
        hasQuality = qualities != nil
        hidesUser = parameters["userhash"]?.lowercased() == "true"
        isStale = parameters["stale"]?.lowercased() == "true"
    }

    /// The value of `Authorization` for a message, as opaque text (`String(opaque:)`).
    ///
    /// - Parameters:
    ///   - count: the number of answers with this nonce, this one included.
    ///   - word: what nobody can guess, new for each answer.
    /// - Throws: `NetworkError` where the system cannot hash.
    package func answer(
        to head: HTTPRequest,
        as credentials: Credentials,
        count: Int,
        word: String = DigestChallenge.newWord()
    ) throws(NetworkError) -> String {
        let target = head.path ?? "/"
        let digits = String(count, radix: 16)
        let number = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        var secret = try algorithm.hash("\(credentials.user):\(realm):\(credentials.password)")
        if algorithm.isSession { secret = try algorithm.hash("\(secret):\(nonce):\(word)") }
        let message = try algorithm.hash("\(head.method.rawValue):\(target)")
        let middle = hasQuality ? "\(nonce):\(number):\(word):auth" : nonce
        var parts = [
            try user(credentials.user), "realm=\(quoted(realm))", "nonce=\(quoted(nonce))", "uri=\(quoted(target))",
            "response=\"\(try algorithm.hash("\(secret):\(middle):\(message)"))\"",
        ]
        if namesAlgorithm { parts.append("algorithm=\(algorithm.rawValue)") }
        if hasQuality { parts += ["qop=auth", "nc=\(number)"] }
        if hasQuality || algorithm.isSession { parts.append("cnonce=\(quoted(word))") }
        if let opaque { parts.append("opaque=\(quoted(opaque))") }
        if hidesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    /// 128 random bits.
    package static func newWord() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16) + String(UInt64.random(in: .min ... .max), radix: 16)
    }

    /// Hidden, plain, or where it is no ASCII in the form of RFC 8187.
    private func user(_ name: String) throws(NetworkError) -> String {
        if hidesUser { return "username=\"\(try algorithm.hash("\(name):\(realm)"))\"" }
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
