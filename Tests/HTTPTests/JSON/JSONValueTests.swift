import BeagleNetHTTP
import Foundation
import Testing

struct JSONValueTests {
    private let value: JSONValue = ["list": [1, 2.5, "x", true, nil], "name": "Ana"]

    @Test func partsAreAccessedByNameAndIndex() {
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

    @Test func codersRoundTripEveryValue() throws {
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: data) == value)
        #expect(try JSONValue(parsing: data) == value)
    }

    private enum Colour: String, Encodable { case red }

    @Test
    func treeOfSwiftValuesIsConverted() throws {
        let some: Int? = 3
        let none: Int? = nil
        let tree: [String: Any] = [
            "text": "x", "part": "xyz".dropFirst(), "flag": true, "int": 1, "byte": UInt8(255), "big": UInt64.max,
            "double": 1.5, "float": Float(0.5), "some": some as Any, "none": none as Any, "list": [1, 2],
            "mixed": [1, "a", false] as [Any], "nested": ["a": ["b": 1]], "colour": Colour.red, "json": JSONValue.null,
        ]
        let expected = """
            {"big":18446744073709551615,"byte":255,"colour":"red","double":1.5,"flag":true,"float":0.5,"int":1,\
            "json":null,"list":[1,2],"mixed":[1,"a",false],"nested":{"a":{"b":1}},"none":null,"part":"yz","some":3,\
            "text":"x"}
            """
        #expect(String(decoding: try JSONTree(converting: tree).data(), as: UTF8.self) == expected)
    }

    private struct Order: Encodable {
        var id = UInt64.max
        var price = 1.0
    }

    private static let numbersOfATreeKeepTheirDigitsExceptAZeroFractionArguments: [(any Sendable, String)] = [
        (1.0, "1"), (-0.0, "-0"), (0.1, "0.1"), (1e20, "1e+20"), (1e-7, "1e-07"), (1e15, "1000000000000000"),
        (Float(0.1), "0.1"), (Float(1), "1"), (Float(3e10), "3e+10"), (UInt64.max, "18446744073709551615"),
        (Int64.min, "-9223372036854775808"), (Int8(-3), "-3"),
        (Decimal(string: "12345678901234567890.25") ?? 0, "12345678901234567890.25"),
        (Order(), #"{"id":18446744073709551615,"price":1}"#),
    ]

    @Test(arguments: Self.numbersOfATreeKeepTheirDigitsExceptAZeroFractionArguments)
    func numbersOfATreeKeepTheirDigitsExceptAZeroFraction(number: any Sendable, expected: String) throws {
        let tree = try JSONTree(converting: [number])
        #expect(String(decoding: try tree.data(), as: UTF8.self) == "[\(expected)]")
    }

    @Test(
        arguments: [Double.nan, .infinity] as [any Sendable] + [Float.nan, Decimal.nan]
    )
    func nonFiniteNumberInATreeIsRejected(number: any Sendable) {
        #expect(throws: NetworkError.self) { try JSONTree(converting: [number]).data() }
    }

    private struct Plain {}
    private struct Failing: Encodable {
        func encode(to encoder: any Encoder) throws { throw CancellationError() }
    }

    private static let unsupportedValueIsRejectedWithItsPathArguments: [(any Sendable, String)] = [
        (Plain(), "$"), (["a": [1, Plain()] as [any Sendable]], "$.a[1]"), ([Date()], "$[0]"),
        (["d": Data()], "$.d"),
        (["f": Failing()], "$.f"), ([1: Plain()], "$"),
    ]

    @Test(arguments: Self.unsupportedValueIsRejectedWithItsPathArguments)
    func unsupportedValueIsRejectedWithItsPath(tree: any Sendable, place: String) {
        let error = #expect(throws: NetworkError.self) { try JSONTree(converting: tree) }
        #expect(error?.kind == .badRequest)
        #expect(error?.message.contains(" \(place): ") == true, "\(error?.message ?? "")")
    }

    @Test func leafClosureConvertsCustomValues() throws {
        let tree = try JSONTree(converting: ["p": Plain()], leaf: { $0 is Plain ? .value("plain") : nil })
        #expect(try tree.data() == Data(#"{"p":"plain"}"#.utf8))
    }

    @Test func foundationSerializesTheTree() throws {
        let value: JSONValue = ["a": [1, 2.5, "x", true]]
        let data = try JSONSerialization.data(withJSONObject: value.tree)
        #expect(try JSONValue(parsing: data) == value)
    }
}
