import Testing

@testable import BeagleNetHTTP

struct CleanJSONCheckTests {
    private func isClean(_ text: String, _ redactor: Redactor = Redactor()) -> Bool {
        CleanJSONCheck.isClean(redactor, Array(text.utf8), depth: 0)
    }

    private static let jsonWithoutSecretsIsRecognizedArguments: [String] = [
        "{}", " [ ]\r\n", #"{"a":[{"b":[[],{}]}],"c":true,"d":false,"e":null}"#,
        #"[0,-0,10,-1.50,1e5,1234567890,1699999999999]"#,
        #"{"id": 17, "title": "Home", "name": "A long name, with marks!"}"#,
        #"[["name","a"],[["b"],"token"],["a","token"]]"#, #"["token","a"]"#, #"["a \"quoted\" word\n\u00e9\/","é"]"#,
        #"{"description":"Every screen has one","createdAt":"2026-11-24"}"#,
        String(repeating: "[", count: 64) + String(repeating: "]", count: 64),
    ]

    @Test(arguments: Self.jsonWithoutSecretsIsRecognizedArguments)
    func jsonWithoutSecretsIsRecognized(_ text: String) { #expect(isClean(text)) }

    private static let otherTextIsNotRecognizedArguments: [String] = [
        "", "1", "\"a\"", "{", "[1", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "[}", "{]", "[1]2",
        "[1] [2]",
        "[01]", "[1.]", "[-]", "[.5]", "[1e]", "[tru]", "[nulls]", "[true", "[\"a]", "[\"\\x\"]", "[\"\\u00g0\"]",
        "[\"\\u00",
        "[\"\u{1}\"]", "[1\u{B}]", "\u{1E}[1]", "\u{FEFF}[1]", "[\"a\\",
        #"{"password":"x"}"#, #"{"p\u0069n":1}"#, #"{"key":"a"}"#, #"{"state":"x"}"#, #"{"query":"{a}"}"#,
        #"{"name":"token","value":"x"}"#, #"[["Authorization","x"]]"#, #"[["t\u006fken","x"]]"#,
        #"["\#(TextScanTests.jwt)"]"#, #"{"\#(TextScanTests.github)":1}"#,
        #"["a?token=x&b=1 and more"]"#, #"["{\"pin\":\"1\"}"]"#, #"["password\u003dabcdefgh"]"#, "[4111111111111111]",
        String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
        "[\"" + String(repeating: "a", count: TextScan.window) + "\"]",
    ]

    /// `JSONScan` finds no secrets in most of them either.
    @Test(arguments: Self.otherTextIsNotRecognizedArguments)
    func otherTextIsNotRecognized(_ text: String) { #expect(!isClean(text)) }

    @Test func secretNamesOfTheAppAreRespected() {
        #expect(isClean(#"{"nick":"x"}"#))
        #expect(!isClean(#"{"nick":"x"}"#, Redactor(secrets: ["nick"])))
        #expect(isClean(#"{"pin":"x"}"#, Redactor(visibleNames: ["pin"])))
    }

    /// A name with the same length and ends, and a longer name.
    @Test(arguments: [("pxxxxxxd", "password"), ("pin" + String(repeating: "x", count: 63) + "n", "pin")])
    func allBytesOfANameAreCompared(_ known: String, _ secret: String) {
        #expect(isClean(#"[{"\#(known)":1},{"\#(known)":1},{"":1},{"":1}]"#))
        #expect(!isClean(#"[{"\#(known)":1},{"\#(secret)":1}]"#))
    }

    @Test func wholeJSONBodyPasses() {
        let redactor = Redactor()
        for type in ["application/json", "application/problem+json; charset=utf-8"] {
            #expect(redactor.passes(body: Data(#"{"a":1}"#.utf8), contentType: type))
            #expect(!redactor.passes(body: Data(#"{"pin":1}"#.utf8), contentType: type))
        }
        for type in [nil, "text/plain", "application/json; charset=utf-16", "image/png"] {
            #expect(!redactor.passes(body: Data(#"{"a":1}"#.utf8), contentType: type))
        }
    }

    @Test func bytesAfterAPlainDocumentAreRedacted() {
        var redactor = Redactor.BodyRedactor(Redactor(), contentType: "application/json")
        var output = redactor.feed(Data(#"{"a":1}"#.utf8))
        #expect(output == Data(#"{"a":1}"#.utf8))
        output += redactor.feed(Data(" {\"pin\":1}".utf8))
        output += redactor.finish()
        #expect(String(decoding: output, as: UTF8.self) == #"{"a":1} {"pin":"REDACTED"}"#)
    }
}
