import BeagleNetHTTP
import Testing

struct JSONWriterTests {
    private static let valueHasOneCanonicalTextArguments: [(JSONValue, String)] = [
        (.null, "null"), (.bool(true), "true"), (.integer(.min), "-9223372036854775808"), (.number(1), "1.0"),
        (.number(1e20), "1e+20"), (.number(0.1), "0.1"), (.number(-0.0), "-0.0"),
        (
            .string("a\"\\/\u{8}\t\n\u{C}\r\u{1}\u{1F}é😀\u{2028}"),
            #""a\"\\/\b\t\n\f\r\u0001\u001fé😀"# + "\u{2028}\""
        ),
        (["b": 1, "a": [true, nil], "B": [:], "c": []], #"{"B":{},"a":[true,null],"b":1,"c":[]}"#),
    ]

    @Test(arguments: Self.valueHasOneCanonicalTextArguments)
    func valueHasOneCanonicalText(value: JSONValue, expected: String) throws {
        #expect(try value.text() == expected)
        #expect(try value.data() == Data(expected.utf8))
        #expect(try JSONValue(parsing: expected) == value)
    }

    @Test func prettyTextHasOneMemberPerLine() throws {
        let value: JSONValue = ["b": [1, [:]], "a": "x"]
        #expect(try value.text(.pretty) == "{\n  \"a\": \"x\",\n  \"b\": [\n    1,\n    {}\n  ]\n}")
    }

    @Test func slashesAreEscapedOnRequest() throws {
        #expect(try JSONValue.string("a/b").text(.escapingSlashes) == #""a\/b""#)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func nonFiniteNumberIsRejected(number: Double) {
        let error = #expect(throws: NetworkError.self) { try JSONValue.array([.number(number)]).data() }
        #expect(error?.kind == .badRequest)
    }

    @Test func everyCharacterRoundTrips() throws {
        for code in (0...0xD7FF).map({ $0 }) + (0xE000...0x1_0FFF).map({ $0 }) {
            guard let scalar = Unicode.Scalar(UInt32(code)) else { continue }
            let value = JSONValue.string(String(scalar))
            guard try JSONValue(parsing: value.data()) != value else { continue }
            Issue.record("U+\(String(code, radix: 16)) doesn't round-trip")
        }
    }
}
