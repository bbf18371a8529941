import BeagleNetReplay
import Testing

struct IndentedJSONTests {
    private static let eachValueHasItsOwnLineArguments: [(String, String)] = [
        ("1.10", "1.10"), ("[]", "[]"), (" { } ", "{}"), ("[1,[],{}]", "[\n  1,\n  [],\n  {}\n]"),
        (
            #"{"b":12345678901234567890123,"a":{"\u00e9":[true,null]}}"#,
            "{\n  \"b\": 12345678901234567890123,\n  \"a\": {\n    \"\\u00e9\": [\n      true,\n      null\n    ]\n  }\n}"
        ),
    ]

    @Test(arguments: Self.eachValueHasItsOwnLineArguments)
    func eachValueHasItsOwnLine(json: String, text: String) {
        #expect(IndentedJSON.text(of: Array(json.utf8)) == text)
        #expect(IndentedJSON.text(of: Array(text.utf8)) == text)
    }

    @Test(arguments: ["", "{", "x", #"{"a":1,}"#, "[1] 2"])
    func invalidJSONHasNoText(text: String) {
        #expect(IndentedJSON.text(of: Array(text.utf8)) == nil)
    }
}
