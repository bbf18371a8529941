import BeagleNetGraphQL
import Foundation
import Testing

struct VariableDataTests {
    private enum Order: String, VariableValueConvertible { case newest = "NEWEST" }
    private enum Level: Int, VariableValueConvertible { case high = 3 }

    private struct PostVariables: VariableDataConvertible {
        var id: String
        var after: String?
        var variableData: VariableData { ["id": id, "after": after] }
    }

    private let mixed: VariableData = [
        "z": 1, "y": "x", "b": true, "f": 1.5, "n": nil as String?, "a": [1, 2],
        "o": ["q": "1", "p": "2"], "m": ["k": 1, "j": [true, "t"] as VariableValue] as VariableData,
    ]

    @Test func encodedBytesAreDeterministic() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let expected =
            #"{"a":[1,2],"b":true,"f":1.5,"m":{"j":[true,"t"],"k":1},"n":null,"o":{"p":"2","q":"1"},"y":"x","z":1}"#
        for _ in 0..<100 {
            let copy = VariableData(mixed.json.object ?? [:])
            #expect(try String(decoding: copy.data(), as: UTF8.self) == expected)
            #expect(try String(decoding: encoder.encode(copy), as: UTF8.self) == expected)
        }
    }

    @Test func defaultEncoderWritesTheSameObject() throws {
        let data = try JSONEncoder().encode(["variables": mixed])
        #expect(try JSONValue(parsing: data) == ["variables": mixed.json])
        #expect(try JSONEncoder().encode(VariableData()) == Data("{}".utf8))
    }

    @Test func encodedVariablesAreDecodedAgain() throws {
        let read = try JSONDecoder().decode(VariableData.self, from: mixed.data())
        #expect(read == mixed)
        #expect(read.hashValue == mixed.hashValue)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(VariableData.self, from: Data("[]".utf8)) }
    }

    @Test func laterDuplicateKeyWins() {
        let data: VariableData = ["a": 1, "b": 2, "a": "three"]
        #expect(data == ["a": "three", "b": 2])
        #expect((["a": 1, "a": 2] as VariableValue) == ["a": 2])
    }

    @Test func settingNilRemovesAFieldAndNullKeepsIt() {
        var data = VariableData()
        #expect(data.isEmpty)
        data.id = .string("x")
        data.first = 10
        data["after"] = .null
        #expect(data.description == #"{after:null,first:10,id:"x"}"#)
        data.id = nil
        data["first"] = nil
        #expect(data.id == nil)
        #expect(data["after"] == .null)
        #expect(data == ["after": VariableValue.null])
    }

    @Test func mergedFieldsReplaceExistingOnes() {
        var data: VariableData = ["a": 1, "b": 1]
        data.merge(["b": 2, "c": 2])
        #expect(data == ["a": 1, "b": 2, "c": 2])
        data.merge(PostVariables(id: "9", after: nil))
        data.merge(EmptyVariables())
        #expect(data == ["a": 1, "b": 2, "c": 2, "id": "9", "after": VariableValue.null])
    }

    @Test func descriptionIsSortedAndUnquoted() {
        let data: VariableData = [
            "o": ["x": "y"], "b": 2, "arr": [1, nil, 3], "a": nil as Int?, "e": VariableData(), "q": "\"",
        ]
        #expect(data.description == #"{a:null,arr:[1,null,3],b:2,e:{},o:{x:"y"},q:"\""}"#)
        #expect(VariableData().description == "")
    }

    private static let valuesAreConvertedArguments: [(any VariableValueConvertible & Sendable, VariableValue)] = [
        ("s"[...], .string("s")), (Order.newest, .string("NEWEST")), (Level.high, .int(3)),
        (Float(0.1), .float(0.1)), (Int8(-1), .int(-1)), (Int64.max, .int(.max)), (UInt(7), .int(7)),
        (UInt64.max, .string("18446744073709551615")),
        (Decimal(string: "1234567890123456789.01"), .string("1234567890123456789.01")),
        (URL(string: "https://a.example/b?c=d"), .string("https://a.example/b?c=d")),
        (
            UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
            .string("6F9619FF-8B86-D011-B42D-00C04FC964FF")
        ),
        (Date(timeIntervalSince1970: 1_795_335_330), .string("2026-11-22T08:15:30Z")),
        (Date(timeIntervalSince1970: 1_795_335_330.25), .string("2026-11-22T08:15:30.250Z")),
        (Date(timeIntervalSince1970: 1_795_335_329.99999), .string("2026-11-22T08:15:30Z")),
        (nil as URL?, .null), ([Order.newest, nil], .array([.string("NEWEST"), .null])),
        (JSONValue.object(["a": [1, 1.5, nil]]), .object(["a": [1, 1.5, nil as Int?] as VariableValue])),
    ]

    @Test(arguments: Self.valuesAreConvertedArguments)
    func valuesAreConverted(value: any VariableValueConvertible & Sendable, expected: VariableValue) {
        #expect(value.variableValue == expected)
    }

    @Test func nonFiniteNumberThrows() {
        let data: VariableData = ["a": Double.infinity]
        let error = #expect(throws: NetworkError.self) { try data.data() }
        #expect(error?.kind == .badRequest)
    }
}
