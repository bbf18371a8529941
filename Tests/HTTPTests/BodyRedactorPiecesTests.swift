@testable import BeagleNetHTTP
import Testing

/// Randomly generated bodies, which are the same in every run.
struct BodyRedactorPiecesTests {
    private static let fragments = [
        "{", "}", "[", "]", "\"", "\\", "\\\"", ",", ":", "=", "&", "?", "#", ";", " ", "\n", "\r\n", "\u{0}", "\u{1}",
        "é", "%", "+", "<", ">", "'", "\"\"\"", "{\"state\":\"a\",", "\"state\":", "\"code\":1", "\"pin\":", "\"a\":",
        "\"query\":", "{\"a\":{\"pin\":[1,", "\"x\"}", "1", "true", "null", "-1.5e3", "state=", "code=", "pin=", "a=",
        "key=", "password", "data: ", "data: {", "event: a\n", "Authorization: ", "Cookie: a=", "[cookie: ",
        "Set-Cookie: ", "Bearer ", "Token ", "WWW-Authenticate: Digest nonce=\"", "https://u:p@h/", "://", "?a=",
        "#/a?code=", "%3F", "%3D", "\\u0070in", "eyJh.eyJz.", "ghp_", "whsec_0123456789", "4111 1111 1111 1111",
        "-----BEGIN PRIVATE KEY-----", "-----END ", "--b\r\n", "--b--", "\r\n\r\n",
        "Content-Disposition: form-data; name=\"pin\"\r\n\r\n", "{a(pin:", "$p: ", "<password>", "</password>",
        "<![CDATA[", "]]>", "<a value=\"x\" ", "name=\"token\"", "{\"value\":\"x\",", "\"name\":\"token\"", "pin%3D",
    ]
    private static let types = [
        "application/json", "application/x-www-form-urlencoded", "text/plain", "text/event-stream", "text/html",
        "application/graphql", "multipart/mixed; boundary=b", "application/octet-stream", nil,
    ]
    private static let modes: [Redactor.Mode] = [.mask, .drop, .hash(Redactor.Key(Data("0123456789abcdef".utf8)))]

    @Test(arguments: 0..<40)
    func splittingAShortBodyDoesNotChangeTheResult(seed: UInt64) {
        var chance = SplitMix64(state: seed)
        for _ in 0..<20 { check(Self.fragments(40, &chance), &chance) }
    }

    @Test(arguments: 0..<20)
    func splittingALongBodyDoesNotChangeTheResult(seed: UInt64) {
        var chance = SplitMix64(state: seed + 1_000)
        var parts = Self.fragments(12, &chance)
        for _ in 0..<2 { parts.insert(Self.longText(&chance), at: chance.next(parts.count)) }
        check(parts, &chance)
    }

    private func check(_ parts: [String], _ chance: inout SplitMix64) {
        let body = Data((chance.next(2) == 0 ? parts.joined() : Self.json(of: parts, &chance)).utf8)
        let type = chance.element(of: Self.types)
        let redactor = Redactor(mode: chance.element(of: Self.modes))
        let whole = redactor.redact(body: body, contentType: type)
        // Skips small pieces of a long body, which are slow.
        for size in [1, 1 + chance.next(50), 1 + chance.next(100_000)] where size * 20_000 > body.count {
            let isEqual = redacted(body, type, size, redactor) == whole
            #expect(isEqual, "\(type ?? "no type") in pieces of \(size)")
        }
        let text = redactor.redact(text: parts.joined() + "\npassword=tOpSeCrEt")
        #expect(!text.contains("tOpSeCrEt"))
    }

    private func redacted(_ body: Data, _ type: String?, _ size: Int, _ base: Redactor) -> Redactor.RedactedBody {
        var redactor = Redactor.BodyRedactor(base, contentType: type)
        var output = Data()
        for start in stride(from: 0, to: body.count, by: size) {
            output += redactor.feed(body.dropFirst(start).prefix(size))
        }
        output += redactor.finish()
        return redactor.unredactable.map { .omitted($0) } ?? .body(output)
    }

    // MARK: bodies

    private static func fragments(_ count: Int, _ chance: inout SplitMix64) -> [String] {
        (0..<chance.next(count) + 1).map { _ in chance.element(of: fragments) }
    }

    /// Returns a text that is slightly shorter or longer than one or two windows.
    private static func longText(_ chance: inout SplitMix64) -> String {
        let piece = chance.element(of: ["x", "1", " ", "\\", "a ", "\\u0065", "?a=", "{\"", "[1,", "a&", "\n"])
        let size = TextScan.window * (1 + chance.next(2)) - 12 + chance.next(24)
        return String(repeating: piece, count: size / piece.utf8.count)
    }

    /// Returns JSON that is sometimes truncated.
    private static func json(of parts: [String], _ chance: inout SplitMix64) -> String {
        var json = "{"
        var ends = ["}"]
        for part in parts {
            if json.last != "{", json.last != "[" { json += "," }
            if ends.last == "}" {
                json += "\"\(chance.element(of: ["a", "pin", "state", "code", "query", "sid", "key"]))\":"
            }
            switch chance.next(6) {
            case 0: json += chance.element(of: ["true", "12", "null", "[]", "{}", "4111111111111111", " 1.5 "])
            case 1, 2:
                let end = chance.element(of: ["]", "}"])
                ends.append(end)
                json += end == "]" ? "[" : "{"
            default: json += JSONValue.string(part).description
            }
            while ends.count > 1, chance.next(4) == 0 { json += ends.removeLast() }
        }
        return json + ends.reversed().dropLast(chance.next(8) / 7).joined()
    }
}

/// A SplitMix64 generator, whose numbers are the same in every run.
private struct SplitMix64 {
    var state: UInt64

    mutating func next(_ count: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(count))
    }

    mutating func element<Element>(of elements: [Element]) -> Element {
        elements[next(elements.count)]
    }
}
