/// The format of a service's tokens: a prefix and the bytes that may follow it.
struct TokenPrefix {
    let text: StaticString
    /// The minimum number of bytes that follow.
    let minCount: Int
    /// The maximum number of bytes that follow.
    var maxCount = Int.max
    /// The bytes that may follow, in addition to letters and digits.
    var others = ""
    /// Whether ordinary words may have this format. If so, a token must contain a digit or a capital letter.
    var isWordLike = false
    let path: String

    static let all: [TokenPrefix] =
        ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map { TokenPrefix(text: $0, minCount: 30, path: "<GitHub token>") }
        + [
            TokenPrefix(text: "github_pat_", minCount: 22, others: "_", path: "<GitHub token>"),
            TokenPrefix(text: "glpat-", minCount: 20, others: "-_.", path: "<GitLab token>"),
        ]
        + ["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xoxc-", "xoxd-", "xapp-"].map {
            TokenPrefix(text: $0, minCount: 10, others: "-%.", path: "<Slack token>")
        }
        + ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"].map {
            TokenPrefix(text: $0, minCount: 10, others: "_+/=", path: "<Stripe key>")
        }
        + [
            TokenPrefix(text: "sk-", minCount: 20, others: "-_", isWordLike: true, path: "<OpenAI key>"),
            TokenPrefix(text: "AIza", minCount: 35, others: "-_", path: "<Google key>"),
            TokenPrefix(text: "ya29.", minCount: 10, others: "-_.", path: "<Google token>"),
            TokenPrefix(text: "GOCSPX-", minCount: 20, others: "-_", path: "<Google key>"),
        ]
        + ["AKIA", "ASIA"].map {
            TokenPrefix(text: $0, minCount: 16, maxCount: 16, path: "<AWS key>")
        }

    static let firstBytes = Set(all.map { $0.text.withUTF8Buffer { $0[0] } })
    /// The prefixes by their first bytes.
    static let byFirstByte: [[TokenPrefix]] = (UInt8.min...UInt8.max).map { byte in
        all.filter { $0.text.withUTF8Buffer { $0[0] } == byte }
    }

    func belongs(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || others.utf8.contains(byte)
    }
}

extension TextScan {
    /// Scans a JWT, the credentials of a header, or a token with a known prefix.
    mutating func token(at candidate: Candidate) -> Step {
        switch bytes[candidate.start] {
        case UInt8(ascii: "e"): return jwt(at: candidate)
        case UInt8(ascii: "B"), UInt8(ascii: "b"): return credentials(at: candidate)
        default: break
        }
        guard isAtBoundary(candidate.start) else { return .pass }
        for prefix in TokenPrefix.byFirstByte[Int(bytes[candidate.start])] {
            switch has(prefix.text, at: candidate.start, candidate) {
            case true:
                let step = token(prefix, at: candidate)
                if case .pass = step { continue }
                return step
            case false: continue
            case nil: return .more
            }
        }
        return .pass
    }

    private mutating func token(_ prefix: TokenPrefix, at candidate: Candidate) -> Step {
        let start = candidate.start + prefix.text.utf8CodeUnitCount
        let end = endOfRun(start, candidate, prefix.belongs)
        if end == candidate.edge, !candidate.isFinal { return .more }
        guard (prefix.minCount...prefix.maxCount).contains(end - start) else { return .pass }
        // Nothing else can begin within such a word, so its bytes are skipped.
        if prefix.isWordLike, !bytes[start..<end].contains(where: { $0.isDigit || ($0.isLetter && $0 < 0x60) }) {
            return .past(end)
        }
        return redact(candidate.start..<end, prefix.path)
    }

    // MARK: JSON Web Tokens

    /// The maximum length of the first part of a JWT, in bytes: the usual limit for an HTTP head.
    private static let jwtHeaderLimit = 8 << 10

    /// Scans a JWT (RFC 7515, 7.1).
    ///
    /// `eyJ` is the beginning of `{"` in Base64. After the first part, a JWT has a dot, and then another part that
    /// begins like this or a second dot.
    private mutating func jwt(at candidate: Candidate) -> Step {
        guard let isBegun = has("eyJ", at: candidate.start, candidate) else { return .more }
        guard isBegun else { return .pass }
        var place = max(candidate.start + 3, dotless)
        let edge = min(candidate.edge, candidate.start + Self.jwtHeaderLimit)
        while place < edge, bytes[place].isBase64URL { place += 1 }
        dotless = place
        if place == edge {
            return edge == candidate.edge && !candidate.isFinal ? .more : .pass
        }
        guard bytes[place] == UInt8(ascii: ".") else { return .pass }
        let second = place + 1
        var end = endOfRun(second, candidate, \.isBase64URL)
        if end == candidate.edge, !candidate.isFinal { return .more }
        guard bytes[second..<end].starts(with: "eyJ".utf8) || (end < candidate.edge && bytes[end] == UInt8(ascii: "."))
        else { return .past(second) }
        end = endOfRun(end, candidate) { $0.isBase64URL || $0 == UInt8(ascii: ".") }
        if end == candidate.edge, !candidate.isFinal { return .more }
        while bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
        return redact(candidate.start..<end, "<JWT>")
    }

    // MARK: Bearer, Basic

    private mutating func credentials(at candidate: Candidate) -> Step {
        guard isAtBoundary(candidate.start) else { return .pass }
        guard let isBearer = has("bearer", at: candidate.start, candidate, anyCase: true),
            let isBasic = has("basic", at: candidate.start, candidate, anyCase: true)
        else { return .more }
        guard isBearer || isBasic else { return .pass }
        let name = candidate.start + (isBearer ? 6 : 5)
        let start = endOfRun(name, candidate) { $0 == 0x20 || $0 == 0x09 }
        let end = endOfRun(start, candidate, \.isCredential)
        if end == candidate.edge, !candidate.isFinal { return .more }
        guard start > name, start < end else { return .pass }
        let secret = bytes[start..<end]
        // `Bearer realm="x"` is a challenge.
        if secret.last == UInt8(ascii: "="), end < candidate.edge, bytes[end] == UInt8(ascii: "\"") { return .pass }
        if isBasic, !Self.isUserAndPassword(secret) { return .pass }
        return redact(start..<end, isBearer ? "<Bearer>" : "<Basic>")
    }

    /// Returns whether this is the Base64 form of text with a colon (RFC 7617, 2), and not an ordinary word.
    private static func isUserAndPassword(_ text: ArraySlice<UInt8>) -> Bool {
        if text.dropFirst().allSatisfy({ $0.isLetter && $0 > 0x60 }) { return false }
        let digits = text.prefix { $0 != UInt8(ascii: "=") }
        let padding = String(repeating: "=", count: (4 - digits.count % 4) % 4)
        let base64 = String(decoding: digits, as: UTF8.self)
            .replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: base64 + padding)?.contains(UInt8(ascii: ":")) == true
    }

    // MARK: Private keys

    /// Scans a private key from the first line of its PEM text to the last (RFC 7468, 2). An unterminated key extends
    /// to the end of the text.
    mutating func privateKey(at candidate: Candidate) -> Step {
        guard let isBegun = has("-----BEGIN ", at: candidate.start, candidate) else { return .more }
        guard isBegun else { return .pass }
        let label = candidate.start + 11
        let labelEnd = endOfRun(label, candidate) { $0 == 0x20 || $0.isLetterOrDigit }
        if labelEnd == candidate.edge, !candidate.isFinal { return .more }
        guard bytes[label..<labelEnd].firstRange(of: Array("PRIVATE KEY".utf8)) != nil else { return .past(labelEnd) }
        var place = labelEnd
        while true {
            place = endOfRun(place, candidate) { $0 != UInt8(ascii: "-") }
            if place == candidate.edge { return candidate.isFinal ? redact(candidate.start..<place, "<key>") : .more }
            guard let isEnd = has("-----END ", at: place, candidate) else { return .more }
            if isEnd { break }
            place += 1
        }
        place = endOfRun(place + 9, candidate) { $0 == 0x20 || $0.isLetterOrDigit }
        place = endOfRun(place, candidate) { $0 == UInt8(ascii: "-") }
        if place == candidate.edge, !candidate.isFinal { return .more }
        return redact(candidate.start..<place, "<key>")
    }
}

extension UInt8 {
    /// Whether this byte is in the URL-safe alphabet of Base64 (RFC 4648, 5).
    fileprivate var isBase64URL: Bool { isWord || self == UInt8(ascii: "-") }

    /// Whether credentials in a header, including malformed ones, may contain this byte.
    fileprivate var isCredential: Bool {
        self > 0x20 && self != 0x7F && !"\"'\\,;<>)]}".utf8.contains(self)
    }
}
