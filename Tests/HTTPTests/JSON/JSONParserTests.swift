import BeagleNetHTTP
import Testing

struct JSONParserTests {
    @Test(
        arguments: [
            ("null", .null), (" true ", .bool(true)), ("false", .bool(false)),
            ("0", .integer(0)), ("-0", .number(-0.0)), ("-1", .integer(-1)), ("12", .integer(12)),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .number(9_223_372_036_854_775_808)),
            ("1.0", .number(1)), ("1.5e3", .number(1500)), ("1E-2", .number(0.01)), ("1e+2", .number(100)),
            ("5e-324", .number(.leastNonzeroMagnitude)), ("1e-400", .number(0)),
            (#""""#, .string("")), (#""a\"\\\/\b\f\n\r\t""#, .string("a\"\\/\u{8}\u{C}\n\r\t")),
            (#""\u0041\u00e9\u20AC""#, .string("Aé€")), (#""\uD83D\ude00""#, .string("😀")), (#""é😀""#, .string("é😀")),
            ("\"\u{2028}\u{7F}\"", .string("\u{2028}\u{7F}")), (#""\u0000""#, .string("\0")),
            ("[]", .array([])), ("{}", .object([:])), ("[1,[2],{}]", [1, [2], [:]]),
            (#" { "a" : [ 1 , null ] , "" : "b" } "#, ["a": [1, nil], "": "b"]),
            (#"{"a":1,"a":2}"#, ["a": 2]), ("\u{FEFF}1", .integer(1)),
        ] as [(String, JSONValue)]
    )
    func validJSONIsParsed(text: String, expected: JSONValue) throws {
        let value = try JSONValue(parsing: text)
        #expect(value == expected)
        // Zero equals its negative.
        #expect(value.number?.sign == expected.number?.sign)
        #expect(try JSONValue(parsing: Data(text.utf8)) == expected)
    }

    private static let unrepresentableValueIsParsedApproximatelyArguments: [(String, JSONValue)] = [
        ("1e999", .number(.greatestFiniteMagnitude)), ("-1e999", .number(-.greatestFiniteMagnitude)),
        ("1e-999", .number(0)), (#""\uD83D""#, "\u{FFFD}"), (#""\uDE00a""#, "\u{FFFD}a"),
        (#""\uD83D\u0041""#, "\u{FFFD}A"), (#"{"\uD83D":1}"#, ["\u{FFFD}": 1]),
        (#"[1e999,"\uD83D","x"]"#, [.number(.greatestFiniteMagnitude), "\u{FFFD}", "x"]),
    ]

    @Test(arguments: Self.unrepresentableValueIsParsedApproximatelyArguments)
    func unrepresentableValueIsParsedApproximately(text: String, expected: JSONValue) throws {
        let value = try JSONValue(parsing: text)
        #expect(value == expected)
        #expect(try JSONValue(parsing: value.text()) == expected)
        #expect(try TapeDecoder.decode([JSONValue].self, from: Data("[\(text)]".utf8)).first?.number == expected.number)
        #expect(try TapeDecoder.decode([JSONValue].self, from: Data("[\(text)]".utf8)).first?.string == expected.string)
    }

    private static let invalidJSONIsRejectedWithItsPositionArguments: [(String, String)] = [
        ("", "line 1, column 1"), ("  ", "line 1, column 3"), ("nul", "line 1, column 1"),
        ("truE", "line 1, column 1"), ("1 2", "line 1, column 3"), ("01", "line 1, column 2"),
        ("-", "line 1, column 2"), ("+1", "line 1, column 1"), (".5", "line 1, column 1"),
        ("1.", "line 1, column 3"), ("1e", "line 1, column 3"),
        ("NaN", "line 1, column 1"), ("[1,]", "line 1, column 4"), ("[1 2]", "line 1, column 4"),
        ("[", "line 1, column 2"), ("{\n  \"a\": x\n}", "line 2, column 8"), ("{\"a\" 1}", "line 1, column 6"),
        ("{a:1}", "line 1, column 2"), ("{\"a\":1,}", "line 1, column 8"), ("'a'", "line 1, column 1"),
        (#""a"#, "line 1, column 3"), (#""\x""#, "line 1, column 3"), (#""\u12g4""#, "line 1, column 6"),
        ("\"\n\"", "line 1, column 2"), ("\"\t\"", "line 1, column 2"),
        ("// c\n1", "line 1, column 1"),
    ]

    @Test(arguments: Self.invalidJSONIsRejectedWithItsPositionArguments)
    func invalidJSONIsRejectedWithItsPosition(text: String, place: String) {
        let error = #expect(throws: NetworkError.self) { try JSONValue(parsing: text) }
        #expect(error?.kind == .decoding)
        #expect(error?.phase == .decode)
        #expect(error?.message.contains(place + ":") == true, "\(error?.message ?? "")")
    }

    @Test(
        arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0xFF]] as [[UInt8]]
    )
    func invalidUTF8IsRejected(bytes: [UInt8]) {
        #expect(throws: NetworkError.self) { try JSONValue(parsing: Data(bytes)) }
    }

    @Test("at most 512 nested containers are accepted", arguments: ["[", "{\"a\":"])
    func nestingDepthIsLimited(opening: String) throws {
        let closing = opening == "[" ? "]" : "}"
        func nested(_ depth: Int) -> String {
            String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)
        }
        let deepest = try JSONValue(parsing: nested(512))
        #expect(try deepest.text() == nested(512))
        #expect(try JSONValue(parsing: nested(512)) == deepest)
        let error = #expect(throws: NetworkError.self) { try JSONValue(parsing: nested(513)) }
        #expect(error?.message.contains("nested") == true)
        #expect(throws: NetworkError.self) { try JSONValue(parsing: String(repeating: opening, count: 1_000_000)) }
    }

    @Test
    func everyPrefixIsRejected() throws {
        let document = Array(#"{"a":[1.5e-3,"\ud83d\ude00é",true,null,{"b":-12}],"c":"\\"}"#.utf8)
        _ = try JSONValue(parsing: Data(document))
        for end in 0..<document.count {
            #expect(throws: NetworkError.self) { try JSONValue(parsing: Data(document[..<end])) }
        }
    }

    @Test("a document with any changed byte is parsed or rejected, without a crash")
    func documentWithAChangedByteDoesNotCrash() {
        let document = Array(#"{"a":[1.5e-3,"\ud83d\ude00é",true,null]}"#.utf8)
        var read = 0
        for index in document.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = document
                changed[index] = byte
                if case .success = Result(catching: { try JSONValue(parsing: Data(changed)) }) { read += 1 }
            }
        }
        #expect(read >= document.count)
    }
}
