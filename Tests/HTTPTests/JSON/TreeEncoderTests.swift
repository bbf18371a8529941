import Foundation
import Testing

@testable import BeagleNetHTTP

/// A `TreeEncoder` writes the same text as a `JSONEncoder` with sorted keys.
struct TreeEncoderTests {
    private func expectTheSame(_ value: some Encodable, _ location: SourceLocation = #_sourceLocation) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let expected = Result { String(decoding: try encoder.encode(value), as: UTF8.self) }
        let found = Result { String(decoding: try TreeEncoder.encode(value), as: UTF8.self) }
        switch (found, expected) {
        case (.success(let found), .success(let expected)): #expect(found == expected, sourceLocation: location)
        case (.failure(let found), .failure(let expected)):
            #expect(path(of: found) == path(of: expected), sourceLocation: location)
        default: Issue.record("expected \(expected), but got \(found)", sourceLocation: location)
        }
    }

    private func path(of error: any Error) -> [String] {
        guard case .invalidValue(_, let context) = error as? EncodingError else { return ["\(error)"] }
        return context.codingPath.map(\.stringValue)
    }

    @Test func valuesAreEncodedLikeAJSONEncoder() throws {
        expectTheSame("x")
        expectTheSame(true)
        expectTheSame(Int?.none)
        expectTheSame([Int?.none, 1])
        expectTheSame([Int8.min, 0, 1])
        expectTheSame([Int16.min])
        expectTheSame([Int32.min])
        expectTheSame([Int64.min])
        expectTheSame([Int128.min])
        expectTheSame([UInt8.max])
        expectTheSame([UInt16.max])
        expectTheSame([UInt32.max])
        expectTheSame([UInt64.max])
        expectTheSame([UInt.max])
        expectTheSame([UInt128.max])
        expectTheSame([1.0, 1.5, 1e20, 1e-7, 0.1, -0.0, 123456789012345680.0, 1e16, .leastNonzeroMagnitude])
        expectTheSame([Float(0.1), 16_777_216])
        expectTheSame(Double.nan)
        expectTheSame(["a": [Double.infinity]])
        expectTheSame(["a": -Float.infinity])
        expectTheSame([try #require(URL(string: "http://a/b?c#d"))])
        expectTheSame(["a": Data([1, 2, 255])])
        expectTheSame([Date(timeIntervalSinceReferenceDate: 1.5)])
        expectTheSame([Decimal(string: "1.10"), Decimal(string: "-12345678901234567890.5")])
        expectTheSame(["a/b\u{7f}\u{1}\u{1F}\n\t\u{8}\u{C}\u{2028}\"\\é\u{1F600}", ""])
        expectTheSame([1: 2, 10: 3, 9: 1])
        expectTheSame(["b": 1, "A": 1, "a10": 1, "a2": 1, "é": 1, "e\u{301}x": 2, "z": 1, "_": 1, "": 0, "\u{FFFD}": 1])
        expectTheSame(["x": ["z": [1, 2], "y": []], "a": [:]])
        expectTheSame(JSONValue.object(["a": [1, 2.5, nil, true, "x"], "b": [:]]))
        expectTheSame([Color.red])
        expectTheSame(Choice.first(number: 1, "x"))
    }

    @Test func containersAreEncodedManually() {
        expectTheSame(Nothing())
        expectTheSame([Nothing()])
        expectTheSame(["a": Nothing()])
        expectTheSame(ByHand())
        expectTheSame([["a": ByHand()]])
        expectTheSame(Child())
    }

    @Test func errorHasTheCodingPathOfTheFailure() {
        expectTheSame(["a": [Failing()]])
        // A JSONEncoder omits the enum case from the path.
        let error = #expect(throws: EncodingError.self) { try TreeEncoder.encode(["a": [Choice.second(.nan)]]) }
        #expect(error.map(path) == ["a", "Index 0", "second", "_0"])
    }

    /// A `JSONEncoder` would end the process.
    @Test func encodingTwoSingleValuesIsAnError() {
        #expect(throws: EncodingError.self) { try TreeEncoder.encode(["a": Twice()]) }
    }

    /// The output is released, even with nested encoders.
    @Test func encoderReleasesItsOutput() throws {
        weak var left: TreeEncoder.Output?
        do {
            let output = TreeEncoder.Output()
            left = output
            _ = try TreeEncoder(output).write([["a": ByHand()]])
        }
        #expect(left == nil)
    }
}

private enum Color: String, Encodable { case red }

private enum Choice: Encodable {
    case first(number: Int, String)
    case second(Double)
}

private struct Nothing: Encodable {
    func encode(to encoder: any Encoder) throws {}
}

private struct Failing: Encodable {
    func encode(to encoder: any Encoder) throws {
        let context = EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "as it likes")
        throw EncodingError.invalidValue(self, context)
    }
}

private struct Twice: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(1)
        try container.encode(2)
    }
}

private class Parent: Encodable {
    var name = "x"
}

private final class Child: Parent {
    private enum Key: String, CodingKey { case age }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(7, forKey: .age)
        try super.encode(to: container.superEncoder())
    }
}

/// Uses every method of the containers.
private struct ByHand: Encodable {
    private enum Key: String, CodingKey { case a, b, c, d, e }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: .a)
        try container.encode(2, forKey: .a)
        try container.encodeNil(forKey: .e)
        var nested = container.nestedContainer(keyedBy: Key.self, forKey: .b)
        try nested.encode(1, forKey: .a)
        var again = container.nestedContainer(keyedBy: Key.self, forKey: .b)
        try again.encode("2", forKey: .b)
        try nested.encode(["x": 1], forKey: .c)
        var more = nested.nestedContainer(keyedBy: Key.self, forKey: .c)
        try more.encode(2, forKey: .d)
        var list = container.nestedUnkeyedContainer(forKey: .c)
        try list.encodeNil()
        try list.encode([1])
        var inner = list.nestedContainer(keyedBy: Key.self)
        var innerList = list.nestedUnkeyedContainer()
        let other = list.superEncoder()
        try inner.encode("later", forKey: .d)
        try innerList.encode(true)
        try list.encode("\(list.codingPath.count) \(nested.codingPath.count)")
        var single = other.singleValueContainer()
        try single.encode(["single": 3])
        _ = container.superEncoder()
        try Nothing().encode(to: container.superEncoder(forKey: .d))
        var same = encoder.container(keyedBy: Key.self)
        try same.encode(1.5, forKey: .e)
    }
}
