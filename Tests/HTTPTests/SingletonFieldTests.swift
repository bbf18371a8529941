import Testing

@testable import BeagleNetHTTP

/// Repeated fields that a message may have only once (RFC 9110, 5.3).
struct SingletonFieldTests {
    private func fields(_ name: HTTPField.Name, _ values: [String]) -> HTTPFields {
        var fields: HTTPFields = [.vary: "a"]
        for value in values { fields.append(HTTPField(name: name, value: value)) }
        fields.append(HTTPField(name: .vary, value: "b"))
        return fields
    }

    private static let equalValuesCountAsOneAndDifferentValuesAsNoneArguments: [([String], String?)] = [
        ([], nil), (["\"a\""], "\"a\""), (["\"a\"", "\"a\""], "\"a\""), (["\"a\"", "\"a\"", "\"a\""], "\"a\""),
        (["\"a\"", "\"b\""], nil), (["\"a\"", "\"a\"", "\"b\""], nil), (["\"a,b\""], "\"a,b\""), (["", ""], ""),
    ]

    @Test(arguments: Self.equalValuesCountAsOneAndDifferentValuesAsNoneArguments)
    func equalValuesCountAsOneAndDifferentValuesAsNone(_ values: [String], _ value: String?) {
        for name in [HTTPField.Name.eTag, .location, .contentRange, .lastModified] {
            #expect(fields(name, values)[single: name] == value)
            #expect(fields(name, values).differ(in: name) == (Set(values).count > 1))
        }
    }

    @Test func valuesAreComparedByBytes() {
        var fields = HTTPFields()
        for byte in [0xE8, 0xE9] as [UInt8] { fields.append(HTTPField(name: .eTag, value: [0x22, byte, 0x22])) }
        #expect(fields.single(.eTag) == nil)
    }

    private static let lastContentTypeIsUsedArguments: [([String], String?)] = [
        (["text/html"], "text/html"), (["a/b", "a/b"], "a/b"), (["a/b", "c/d"], "c/d"),
        (["a/b", "nonsense"], "a/b"),
        (["a/b", "*/*"], "a/b"), (["a/b", ""], "a/b"),
        (["application/json", "application/json;charset=UTF-8"], "application/json;charset=UTF-8"),
        (["text/html;charset=gbk", "text/html"], "text/html;charset=gbk"),
        (["text/html;charset=gbk", "text/plain", "text/html"], "text/html"),
        (["text/html;charset=gbk", "text/html;x=\",\""], "text/html;x=\",\";charset=gbk"),
        (["text/html;charset=\" g\\\"\"", "text/html"], "text/html;charset=\" g\\\"\""),
        (["text/html;charset=gbk", "text/html;charset=utf-8"], "text/html;charset=utf-8"),
        // Values that were joined by an intermediary.
        (["a/b, a/b"], "a/b"), (["a/b;charset=utf-8, nonsense"], "a/b;charset=utf-8"),
        (["multipart/mixed; boundary=\"a,b\""], "multipart/mixed; boundary=\"a,b\""),
        (["multipart/mixed; boundary=\"a\\\",b\"", "x"], "multipart/mixed; boundary=\"a\\\",b\""),
        (["nonsense, more"], "nonsense, more"), (["nonsense", "more"], nil), ([], nil),
    ]

    /// https://fetch.spec.whatwg.org/#concept-header-extract-mime-type
    @Test(arguments: Self.lastContentTypeIsUsedArguments)
    func lastContentTypeIsUsed(_ values: [String], _ value: String?) throws {
        #expect(fields(.contentType, values)[single: .contentType] == value)
        let lines = values.map { "Content-Type: \($0)\r\n" }.joined()
        let head = try RawHead(parsing: Array("HTTP/1.1 200 OK\r\n\(lines)\r\n".utf8))
        #expect(head.contentType == value)
        #expect(head.hasContentType("a/b") == (value == "a/b"))
        #expect(RawHead(head.head).contentType == value)
    }

    /// The time limit is thousands of times the usual duration.
    @Test(.timeLimit(.minutes(5))) func manyContentTypesAreReadQuickly() {
        let charset = String(repeating: " ", count: 100_000)
        let types = String(repeating: ",a/b", count: 25_000)
        let fields = self.fields(.contentType, ["a/b;charset=\"\(charset)\"\(types)"])
        #expect(fields[single: .contentType] == "a/b;charset=\"\(charset)\"")
    }

    private static let longestRetryAfterIsUsedArguments: [([String], Int?)] = [
        (["6", "6"], 6), (["6", "60", "7"], 60), (["soon", "6"], 6), (["99999999999999999999"], 1 << 40),
        (["-1"], nil),
        (["1.5"], nil), (["", "+1"], nil), (["007"], 7),
        (["Sun, 06 Nov 1994 08:49:47 GMT"], 10), (["Sunday, 06-Nov-94 08:49:47 GMT"], 10),
        (["Sun Nov  6 08:49:47 1994"], 10), (["Sun, 06 Nov 1994 08:49:27 GMT"], 0),
    ]

    @Test(arguments: Self.longestRetryAfterIsUsedArguments)
    func longestRetryAfterIsUsed(_ values: [String], _ seconds: Int?) {
        for dates in [["Sun, 06 Nov 1994 08:49:37 GMT"], Array(repeating: "Sunday, 06-Nov-94 08:49:37 GMT", count: 2)] {
            var fields = fields(.retryAfter, values)
            for date in dates { fields.append(HTTPField(name: .date, value: date)) }
            let response = HTTPResponse(status: .serviceUnavailable, headerFields: fields)
            #expect(response.retryAfter == seconds.map { .seconds($0) })
        }
    }
}
