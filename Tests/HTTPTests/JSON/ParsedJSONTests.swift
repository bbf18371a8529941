import Testing

@testable import BeagleNetHTTP

struct ParsedJSONTests {
    private let text =
        #" {"b": [1.10, 12345678901234567890123, -0, 1e3], "a": {"": null, "x": true}, "b2": "\u0041\ud83d\ude00\/\n", "e": [], "o": {}} "#

    private func document(_ text: String) throws -> ParsedJSON { try ParsedJSON(Array(text.utf8)) }

    @Test func membersKeepTheirOrderAndNumbersTheirDigits() throws {
        let root = try document(text).root
        #expect(root.members.map(\.name) == ["b", "a", "b2", "e", "o"])
        #expect(root["b"]?.elements.map(\.numberText) == ["1.10", "12345678901234567890123", "-0", "1e3"])
        #expect(root["b"]?.elements.map(\.integer) == [nil, nil, 0, 1000])
        #expect(root["a"]?[""]?.isNull == true)
        #expect(root["a"]?["x"]?.bool == true)
        #expect(root["b2"]?.string == "A😀/\n")
        #expect(root["e"]?.elements.map(\.kind).isEmpty == true)
        #expect(root["o"]?.members.map(\.name) == [])
        #expect(root["none"] == nil)
    }

    @Test func valueHasItsSourceText() throws {
        let root = try document(text).root
        #expect(String(decoding: try #require(root["a"]).raw, as: UTF8.self) == #"{"": null, "x": true}"#)
        #expect(String(decoding: root.raw, as: UTF8.self) == text.dropFirst().dropLast())
    }

    @Test func lastOfRepeatedNamesIsUsed() throws {
        #expect(try document(#"{"a":1,"\u0061":2}"#).root["a"]?.integer == 2)
    }

    @Test func namesAreComparedByBytes() throws {
        #expect(try document(#"{"e\u0301":1}"#).root["é"] == nil)
        #expect(try document(#"{"\u00e9":1}"#).root["é"]?.integer == 1)
    }

    private static let integerIsExactInEveryNotationArguments: [(String, Int64?)] = [
        ("9007199254740993.0", 9_007_199_254_740_993), ("9223372036854775807.0", Int64.max),
        ("1e18", 1_000_000_000_000_000_000),
        ("-9223372036854775808e0", .min), ("9223372036854775808", nil), ("1.5", nil), ("1e-1", nil), ("10E-1", 1),
        ("-0.0", 0), ("1e400", nil),
    ]

    @Test(arguments: Self.integerIsExactInEveryNotationArguments)
    func integerIsExactInEveryNotation(_ text: String, _ expected: Int64?) throws {
        #expect(try document(text).root.integer == expected)
    }

    private static let unpairedSurrogateIsReplacedArguments: [(String, String)] = [
        (#""\ud83d x""#, "\u{FFFD} x"), (#""\ude00""#, "\u{FFFD}"), (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"),
        (#""\u00e9\"\\""#, "é\"\\"),
    ]

    @Test(arguments: Self.unpairedSurrogateIsReplacedArguments)
    func unpairedSurrogateIsReplaced(_ text: String, _ meant: String) throws {
        #expect(try document(text).root.string == meant)
    }

    @Test func byteOrderMarkIsSkipped() throws {
        #expect(try ParsedJSON([0xEF, 0xBB, 0xBF, 0x5B, 0x5D]).root.kind == .array)
    }

    private static let faultHasItsOffsetAndPathArguments: [(String, Int, String)] = [
        (#"{"log":{"entries":[{},{"time":}]}}"#, 30, "$.log.entries[1].time"), ("", 0, "$"), ("[1,]", 3, "$[1]"),
        (#"{"a":1 "b":2}"#, 7, "$.a"), ("[01]", 2, "$[1]"), ("nul", 0, "$"), ("[1] x", 4, "$"), (#"{"a":"x"#, 7, "$.a"),
        ("[\"\u{1}\"]", 2, "$[0]"), (#"["\x"]"#, 3, "$[0]"), ("-", 1, "$"), ("1.", 2, "$"), ("1e+", 3, "$"),
        (#"["\u12G4"]"#, 6, "$[0]"), ("{1:2}", 1, "$"), ("[1}", 2, "$[1]"),
    ]

    @Test(arguments: Self.faultHasItsOffsetAndPathArguments)
    func faultHasItsOffsetAndPath(_ text: String, _ offset: Int, _ path: String) {
        let fault = #expect(throws: JSONFault.self) { try document(text) }
        #expect(fault?.offset == offset)
        #expect(fault?.path == path)
    }

    @Test func tooDeeplyNestedDocumentIsRejected() {
        let fault = #expect(throws: JSONFault.self) { try document(String(repeating: "[", count: 600)) }
        #expect(fault?.offset == 512)
    }
}
