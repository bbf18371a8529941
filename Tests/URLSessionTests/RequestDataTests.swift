import BeagleNet
import BeagleNetURLSession
import Foundation
import Testing

struct RequestDataTests {
    private func body(_ tree: Any?) throws -> Data? {
        let data = Request.RequestData(method: "POST", body: tree)
        let url = try #require(URL(string: "http://127.0.0.1/"))
        return try HttpRequestBuilder().build(Request(url: url, type: .rawRequest(data))).body?.data
    }

    @Test func foundationNumbersKeepTheirType() throws {
        let tree: [String: Any] = [
            "one": NSNumber(value: 1), "zero": NSNumber(value: 0), "yes": NSNumber(value: true), "no": false,
            "int": 1, "half": NSNumber(value: 0.5), "big": NSNumber(value: Int64.max), "byte": NSNumber(value: Int8(1)),
        ]
        #expect(
            try JSONValue(parsing: #require(try body(tree))) == [
                "one": 1, "zero": 0, "yes": true, "no": false, "int": 1, "half": 0.5, "big": .integer(.max), "byte": 1,
            ]
        )
    }

    @Test func numbersAreWrittenLikeFoundation() throws {
        let tree: [Any] = [
            1.0, Float(0.1), UInt64.max, NSNumber(value: 1.0), NSNumber(value: UInt64.max), NSNumber(value: Float(0.1)),
            NSDecimalNumber(string: "12345678901234567890.25"), NSNumber(value: true),
        ]
        let expected = try JSONSerialization.data(withJSONObject: tree)
        #expect(try body(tree) == expected)
        let data = Request.RequestData(method: "POST", body: tree)
        #expect(try JSONSerialization.data(withJSONObject: #require(data.body)) == expected)
    }

    @Test func foundationContainersAreWritten() throws {
        let tree = NSDictionary(dictionary: ["list": NSArray(array: [NSNull(), NSString(string: "a"), "b"])])
        #expect(try body(tree) == Data(#"{"list":[null,"a","b"]}"#.utf8))
    }

    @Test(arguments: [Double.nan, .infinity])
    func nonFiniteNumberIsRejectedWithItsPath(_ value: Double) throws {
        let error = #expect(throws: NetworkError.self) { try body(["a": [NSNumber(value: value)]] as [String: Any]) }
        #expect(error?.kind == .badRequest)
        #expect(error?.phase == .build)
        #expect(error?.message.contains("$.a[0]") == true)
    }

    @Test func unsupportedValueIsRejectedWithItsPath() throws {
        let error = #expect(throws: NetworkError.self) { try body(["a": NSObject()] as [String: Any]) }
        #expect(error?.kind == .badRequest)
        #expect(error?.message.contains("$.a") == true)
    }

    @Test func unsupportedValueIsAnErrorForFoundation() throws {
        let body = try #require(Request.RequestData(method: "POST", body: ["a": NSObject()] as [String: Any]).body)
        #expect(throws: (any Error).self) {
            try JSONSerialization.data(withJSONObject: body, options: .fragmentsAllowed)
        }
    }

    @Test func nilTreeMakesNoBody() throws {
        let tree: Any? = nil
        #expect(try body(tree) == nil)
    }

    @Test func requestBodyValueIsSentUnchanged() throws {
        let tree: Any = Request.Body.text("plain")
        #expect(try body(tree) == Data("plain".utf8))
    }

    @Test func bodyCanBeSerializedByFoundation() throws {
        let tree: Any = ["a": NSNull(), "b": [1]] as [String: Any]
        let data = Request.RequestData(method: "POST", body: tree)
        let written = try JSONSerialization.data(withJSONObject: try #require(data.body), options: .sortedKeys)
        #expect(written == Data(#"{"a":null,"b":[1]}"#.utf8))
    }
}
