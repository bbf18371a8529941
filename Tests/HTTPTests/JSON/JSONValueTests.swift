import BeagleNetHTTP
import Foundation
import Testing

@Suite struct JSONValueTests {
    private let value: JSONValue = ["list": [1, 2.5, "x", true, nil], "name": "Ana"]

    @Test func partsAreReachedByNameAndPosition() {
        #expect(value["name"]?.string == "Ana")
        #expect(value["list"]?[0]?.integer == 1)
        #expect(value["list"]?[0]?.number == 1)
        #expect(value["list"]?[1]?.number == 2.5)
        #expect(value["list"]?[3]?.bool == true)
        #expect(value["list"]?.array?.count == 5)
        #expect(value.object?.count == 2)
        #expect(value["list"]?[5] == nil)
        #expect(value["list"]?[-1] == nil)
        #expect(value["none"] == nil)
        #expect(value["list"]?["name"] == nil)
    }

    @Test func membersAreSetAndRemoved() {
        var value: JSONValue = nil
        value["a"] = 1
        value["b"] = "x"
        value["a"] = JSONValue?.none
        #expect(value == ["b": "x"])
        var text: JSONValue = "text"
        text["a"] = 1
        #expect(text == "text")
    }

    @Test func codersTakeAndGiveEveryValue() throws {
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: data) == value)
        #expect(try JSONValue(parsing: data) == value)
    }

    private enum Colour: String, Encodable { case red }

    @Test("trees of Swift values become JSON")
    func convertsTrees() throws {
        let some: Int? = 3
        let none: Int? = nil
        let tree: [String: Any] = [
            "text": "x", "part": "xyz".dropFirst(), "flag": true, "int": 1, "byte": UInt8(255), "big": UInt64.max,
            "double": 1.5, "float": Float(0.5), "some": some as Any, "none": none as Any, "list": [1, 2],
            "mixed": [1, "a", false] as [Any], "nested": ["a": ["b": 1]], "colour": Colour.red, "json": JSONValue.null,
        ]
        let expected: JSONValue = [
            "text": "x", "part": "yz", "flag": true, "int": 1, "byte": 255, "big": 18446744073709551616.0,
            "double": 1.5, "float": 0.5, "some": 3, "none": nil, "list": [1, 2], "mixed": [1, "a", false],
            "nested": ["a": ["b": 1]], "colour": "red", "json": nil,
        ]
        #expect(try JSONValue(converting: tree) == expected)
    }

    private struct Plain {}
    private struct Failing: Encodable {
        func encode(to encoder: any Encoder) throws { throw CancellationError() }
    }

    @Test(
        "what has no JSON form is refused with its place",
        arguments: [
            (Plain(), "$"), (["a": [1, Plain()] as [any Sendable]], "$.a[1]"), ([Date()], "$[0]"),
            (["d": Data()], "$.d"),
            (["f": Failing()], "$.f"), ([1: Plain()], "$"),
        ] as [(any Sendable, String)]
    )
    func refusesForeignValues(tree: any Sendable, place: String) {
        let error = #expect(throws: NetworkError.self) { try JSONValue(converting: tree) }
        #expect(error?.kind == .badRequest)
        #expect(error?.message.contains(" \(place): ") == true, "\(error?.message ?? "")")
    }

    @Test func leavesMayBeKnownElsewhere() throws {
        let value = try JSONValue(converting: ["p": Plain()]) { $0 is Plain ? "plain" : nil }
        #expect(value == ["p": "plain"])
    }

    @Test func foundationWritesTheTree() throws {
        let value: JSONValue = ["a": [1, 2.5, "x", true]]
        let data = try JSONSerialization.data(withJSONObject: value.tree)
        #expect(try JSONValue(parsing: data) == value)
    }
}
