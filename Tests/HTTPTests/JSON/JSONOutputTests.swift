import BeagleNetHTTP
import Testing

struct JSONOutputTests {
    private func written(_ write: (inout JSONOutput) -> Void) -> String {
        var output = JSONOutput()
        write(&output)
        return String(decoding: output.bytes, as: UTF8.self)
    }

    private static let stringIsEscapedLikeJSONTextArguments: [String] = [
        "", "a", "1234567", "12345678", "123456789", "\"", "\\\u{0}\u{1F} \u{7F}é\u{1F600}",
        String(repeating: "\u{1}", count: 3_000), String(repeating: "a", count: 1_023) + "\"\"" + "b",
        String(repeating: "é\"", count: 2_000),
    ]

    /// Long strings are written in pieces.
    @Test(arguments: Self.stringIsEscapedLikeJSONTextArguments)
    func stringIsEscapedLikeJSONText(_ text: String) throws {
        var expected: [UInt8] = []
        JSONText.append(text, to: &expected)
        #expect(written { $0.string(text) } == String(decoding: expected, as: UTF8.self))
        #expect(try ParsedJSON(expected).root.string == text)
    }

    @Test func membersAreSeparatedByCommas() {
        let text = written { output in
            output.object { output in
                output.member("a", 1)
                output.name(escaping: "b\"")
                output.string("c")
                output.name("d")
                output.array { output in
                    output.object { _ in }
                    output.bool(true)
                    output.null()
                    output.raw("[1]".utf8)
                }
            }
        }
        #expect(text == #"{"a":1,"b\"":"c","d":[{},true,null,[1]]}"#)
    }

    private static let decimalsHaveADecimalPointArguments: [(Int64, Int, String)] = [
        (0, 0, "0"), (-7, 0, "-7"), (.min, 0, "\(Int64.min)"), (.max, 0, "\(Int64.max)"), (0, 3, "0.000"),
        (5, 3, "0.005"),
        (-500, 3, "-0.500"), (12_345, 3, "12.345"), (.min, 18, "-9.223372036854775808"),
    ]

    @Test(arguments: Self.decimalsHaveADecimalPointArguments)
    func decimalsHaveADecimalPoint(_ number: Int64, _ places: Int, _ text: String) {
        #expect(written { $0.decimal(number, places: places) } == text)
    }

    @Test(arguments: [10, 100_000])
    func resetOutputIsEmpty(_ count: Int) {
        var output = JSONOutput()
        output.string(String(repeating: "a", count: count))
        output.reset()
        output.object { $0.member("a", 1) }
        #expect(output.withBytes { String(decoding: $0, as: UTF8.self) } == #"{"a":1}"#)
        #expect(output.bytes == Array(#"{"a":1}"#.utf8))
    }

    @Test func largestUnsignedIntegerIsWritten() {
        #expect(written { $0.integer(UInt64.max) } == "\(UInt64.max)")
    }
}
