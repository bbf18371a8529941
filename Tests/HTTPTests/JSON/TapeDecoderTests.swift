import Foundation
import Testing

@testable import BeagleNetHTTP

/// A `TapeDecoder` decodes a text to the same value as a `JSONDecoder`.
struct TapeDecoderTests {
    /// Expects both decoders to return the same value, or to fail with the same case of `DecodingError` at the same
    /// path.
    ///
    /// - Parameter failsAlike: Whether the errors must be equal. `false` if a `JSONDecoder` visits members in any order
    /// or reports an earlier value.
    private func expectTheSame<Value: Decodable & Equatable>(
        _ type: Value.Type,
        _ text: String,
        failsAlike: Bool = true,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let expected = outcome { try JSONDecoder().decode(type, from: Data(text.utf8)) }
        let found = outcome { try TapeDecoder.decode(type, from: Data(text.utf8)) }
        if !failsAlike, case .failure = found, case .failure = expected { return }
        #expect(found == expected, "\(type) of \(text)", sourceLocation: location)
    }

    private static let depthOfATapeDoesNotChangeItsRangesArguments: [String] = [
        #"{"a":[1,{"b":[]}],"c":{"d":{"e":{}},"f":"g"},"a":"\u0041"}"#, "[[[[]],[]]]", "17", #""text""#, "{}",
        "\u{FEFF} { \"a\" : { \"b\" : [ 1 , 2 ] , \"c\" : { \"d\" : 3 } } } ",
    ]

    /// A tape with a limited depth has the same ranges as the complete tape.
    @Test(arguments: Self.depthOfATapeDoesNotChangeItsRangesArguments)
    func depthOfATapeDoesNotChangeItsRanges(text: String) throws {
        let whole = try JSONTape(Data(text.utf8))
        for range in ranges(in: whole, 0, 4) { _ = try JSONValue(parsing: Data(Array(text.utf8)[range])) }
        for depth in 0...4 {
            let some = try JSONTape(Data(text.utf8), depth: depth)
            #expect(ranges(in: some, 0, depth) == ranges(in: whole, 0, depth))
            #expect(!some.isComplete && whole.isComplete)
        }
    }

    /// Returns the ranges of the values up to a nesting depth.
    private func ranges(in tape: JSONTape, _ index: Int, _ depth: Int) -> [Range<Int>] {
        guard depth > 0 else { return [tape.range(of: index)] }
        guard tape.isObject(index) else { return [tape.range(of: index)] }
        return tape.children(of: index).reduce(into: [tape.range(of: index)]) {
            $0 += ranges(in: tape, $1 + 1, depth - 1)
        }
    }

    private enum Outcome<Value: Equatable>: Equatable {
        case value(Value)
        case failure(String)
    }

    private func outcome<Value>(_ body: () throws -> Value) -> Outcome<Value> {
        do { return .value(try body()) } catch { return .failure(words(of: error)) }
    }

    private func words(of error: any Error) -> String {
        func path(_ context: DecodingError.Context) -> String {
            context.codingPath.map { ".\($0.stringValue)" }.joined()
        }
        return switch error as? DecodingError {
        case .keyNotFound(let key, let context): "no \(key.stringValue) in \(path(context))"
        case .valueNotFound(_, let context): "null at \(path(context))"
        case .typeMismatch(_, let context): "another type at \(path(context))"
        // A JSONDecoder doesn't always report the position of the fault.
        case .dataCorrupted: "corrupted"
        default: "\(error)"
        }
    }

    private static let texts = [
        #"{"a":1}"#, #"{"a":1,"a":2}"#, #"{"a":null}"#, #"{"a":"x"}"#, "{}", "[]", "[null]", "[[1],[null]]",
        #"[[1],["x"]]"#,
        #"{"a":{"b":[1,2,{"c":"d"}]}}"#, "1.0", "1e2", "1.5", "300", "-1", "-0", "0", "0.0", "-0.00", "0e5", "1e999",
        "1e40", "1e-999",
        "5e-324",
        "9007199254740993.0", "9007199254740993", "12345678901234567890", "18446744073709551615",
        "-9223372036854775808",
        "-128", "-129", "170141183460469231731687303715884105727", "0.1", "1.10", #""""#, #""http://a/b""#, #""AQI=""#,
        #""A""#,
        "[1,2.5,-3e-2]", #"["é","\u00e9","\ud83d\ude00","a\/b\n"]"#, "[\"\u{1}\"]", "[1,]", "", " ",
        "tru",
        " \n{ \"a\" : [ true , false ] }\t", "\u{FEFF}[1]", #"{"\u0061":1}"#, #"{"é":1}"#, #"{"1":2,"10":3}"#,
        #"{"":1}"#, "[1]x",
        #"{"a":true,"b":[{}],"c":null,"d":-0.5,"e":""}"#, "true", "false", "\"text\"",
    ]

    /// Numbers that a `JSONDecoder` can't decode as a `JSONValue`.
    private static let numbersThatDoNotFit = ["1e999", "1e-999", "5e-324"]

    /// A `JSONDecoder` rejects an unpaired surrogate.
    @Test func unpairedSurrogateIsReplaced() throws {
        let text = Data(#"{"\ud800":"a\udc00b","a":["\ud83d"]}"#.utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([String: JSONValue].self, from: text) }
        let members = try TapeDecoder.decode([String: JSONValue].self, from: text)
        #expect(members == ["\u{FFFD}": "a\u{FFFD}b", "a": ["\u{FFFD}"]])
    }

    @Test(arguments: texts)
    func textIsDecodedLikeAJSONDecoder(_ text: String) {
        expectTheSame(Bool.self, text)
        expectTheSame(String.self, text)
        expectTheSame(Double.self, text)
        expectTheSame(Int.self, text)
        expectTheSame(Float.self, text)
        expectTheSame(Int8.self, text)
        expectTheSame(Int16.self, text)
        expectTheSame(Int32.self, text)
        expectTheSame(Int64.self, text)
        expectTheSame(Int128.self, text)
        expectTheSame(UInt.self, text)
        expectTheSame(UInt8.self, text)
        expectTheSame(UInt16.self, text)
        expectTheSame(UInt32.self, text)
        expectTheSame(UInt64.self, text)
        expectTheSame(UInt128.self, text)
        expectTheSame(Decimal.self, text)
        expectTheSame(URL.self, text)
        expectTheSame(Data.self, text)
        expectTheSame(Date.self, text)
        expectTheSame([Int].self, text)
        expectTheSame([Double?].self, text)
        expectTheSame([[Int]].self, text)
        // A JSONDecoder throws a different error case for a null instead of a Boolean.
        expectTheSame([Bool].self, text, failsAlike: false)
        expectTheSame([String].self, text)
        expectTheSame([String: Int].self, text, failsAlike: false)
        expectTheSame([Int: Int].self, text, failsAlike: false)
        expectTheSame([String: [String: JSONValue]].self, text, failsAlike: false)
        if !Self.numbersThatDoNotFit.contains(text) { expectTheSame(JSONValue.self, text, failsAlike: false) }
        expectTheSame(FirstMatch.self, text)
        expectTheSame(Members.self, text)
        expectTheSame([Members].self, text)
        expectTheSame(Choice.self, text)
    }

    private static let containersAreDecodedManuallyArguments: [String] = [
        #"{"name":"x","inner":{"numbers":[1,2.5],"flag":true},"list":[{"a":1},[2,[3]],4]}"#,
        #"{"name":"x","inner":{"numbers":[1,"2"]},"list":[]}"#,
        #"{"name":"x","inner":{"numbers":[1]},"list":[{"a":1}]}"#,
        #"{"name":"x","inner":{},"list":[[]]}"#, #"{"name":1}"#, #"{"super":{"name":"y"},"name":"x"}"#,
        #"{"name":"x","inner":null}"#, #"{"name":"x","inner":{"numbers":{}},"list":[1,2,3,4,5]}"#,
    ]

    @Test(arguments: Self.containersAreDecodedManuallyArguments)
    func containersAreDecodedManually(_ text: String) {
        expectTheSame(ByHand.self, text)
    }

    /// Objects with many members use a different lookup.
    @Test func membersOfALargeObjectAreFound() {
        let members =
            (0..<40).map { #""m\#($0)":\#($0)"# } + [#""m3":-3"#, #""é":1"#, #""\u0061":2"#, #""a":3"#, #""b":4"#]
        let text = "{" + members.joined(separator: ",") + "}"
        expectTheSame([String: Int].self, text)
        expectTheSame(Members.self, text)
        expectTheSame(JSONValue.self, text)
    }

    @Test func deeplyNestedTextIsDecodedOrRejected() {
        expectTheSame(JSONValue.self, String(repeating: "[", count: 500) + String(repeating: "]", count: 500))
        expectTheSame(JSONValue.self, String(repeating: "[", count: 600) + String(repeating: "]", count: 600))
    }

    @Test func otherEncodingsAreDecoded() throws {
        let data = try #require(#"["é"]"#.data(using: .utf16))
        #expect(try TapeDecoder.decode([String].self, from: data) == ["é"])
    }

    @Test func invalidUTF8IsRejected() {
        let data = Data([0x5B, 0x22, 0xFF, 0x22, 0x5D])
        #expect(throws: DecodingError.self) { try TapeDecoder.decode([String].self, from: data) }
    }

    /// A slice of a body doesn't start at index 0.
    @Test func sliceOfABodyIsDecoded() throws {
        let data = Data(#"xx{"a":7}"#.utf8).dropFirst(2)
        #expect(try TapeDecoder.decode(Members.self, from: data).a == 7)
    }

    /// Types that try several alternatives fail for every value. The cost of a failure must not grow with the number of
    /// preceding values.
    @Test func failedAttemptsInALongArrayAreFast() throws {
        let text = "[" + Array(repeating: #""x""#, count: 20_000).joined(separator: ",") + "]"
        #expect(try TapeDecoder.decode([FirstMatch].self, from: Data(text.utf8)).count == 20_000)
    }

    /// Nor must it grow with the length of the enclosing names.
    @Test func failedAttemptsUnderALongNameAreFast() throws {
        let numbers = Array(repeating: "1.5", count: 20_000).joined(separator: ",")
        let data = Data(#"{"\#(String(repeating: "a", count: 1 << 20))":[\#(numbers)]}"#.utf8)
        #expect(try TapeDecoder.decode([String: [FirstMatch]].self, from: data).values.first?.count == 20_000)
        #expect(try TapeDecoder.decode(JSONValue.self, from: data).object?.values.first?.array?.count == 20_000)
    }

    /// Errors don't quote the body.
    @Test func errorsDoNotQuoteTheBody() {
        for text in [#"{"a":"secret"}"#, #"{"a":12345678901234567890}"#] {
            let error = #expect(throws: DecodingError.self) {
                try TapeDecoder.decode(Members.self, from: Data(text.utf8))
            }
            #expect(error.map { !"\($0)".contains("secret") && !"\($0)".contains("1234567890") } == true)
        }
    }
}

private struct Members: Decodable, Equatable {
    let a: Int
    let b: [Int]?
    let c: String?
}

private enum Choice: Decodable, Equatable {
    case a(b: [Int])
    case c
}

/// Tries all types until one matches.
private enum FirstMatch: Decodable, Equatable {
    case flag(Bool), whole(Int), number(Double), text(String), list([FirstMatch]), members([String: FirstMatch]), null

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode(Int.self) {
            self = .whole(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([FirstMatch].self) {
            self = .list(value)
        } else {
            self = .members(try container.decode([String: FirstMatch].self))
        }
    }
}

/// Uses every method of the containers.
private struct ByHand: Decodable, Equatable {
    var found: [String] = []

    private enum Key: String, CodingKey { case name, inner, list, numbers, flag }
    private enum Inner: String, CodingKey { case a }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        note(container.allKeys.map(\.stringValue).sorted(), container.contains(.name), container.codingPath.count)
        note(try container.decode(String.self, forKey: .name))
        note(try container.decodeIfPresent(Bool.self, forKey: .flag) as Any)
        let other = try container.superDecoder()
        note(other.codingPath.map(\.stringValue), try other.singleValueContainer().decodeNil())
        let inner = try container.nestedContainer(keyedBy: Key.self, forKey: .inner)
        note(inner.codingPath.map(\.stringValue))
        if try inner.contains(.flag) && !inner.decodeNil(forKey: .flag) {
            note(try inner.decode(Bool.self, forKey: .flag))
        }
        var numbers = try inner.nestedUnkeyedContainer(forKey: .numbers)
        while !numbers.isAtEnd {
            note(numbers.currentIndex, numbers.count as Any, numbers.codingPath.map(\.stringValue))
            note(try numbers.decode(Double.self))
        }
        note(attempt { _ = try numbers.decode(Int.self) }, attempt { _ = try numbers.decodeNil() })
        var list = try container.nestedUnkeyedContainer(forKey: .list)
        note(try list.nestedContainer(keyedBy: Inner.self).decode(Int.self, forKey: .a))
        var nested = try list.nestedUnkeyedContainer()
        note(try nested.decode(Int.self), try nested.superDecoder().codingPath.map(\.stringValue))
        note(try list.superDecoder().singleValueContainer().decode(Int.self), list.isAtEnd)
        note(attempt { _ = try list.superDecoder() }, attempt { _ = try container.decode(Int.self, forKey: .flag) })
        note(try container.superDecoder(forKey: .list).unkeyedContainer().count as Any)
    }

    private mutating func note(_ values: Any...) { found.append("\(values)") }

    private func attempt(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing"
        } catch DecodingError.valueNotFound(_, let context) {
            return "end at \(context.codingPath.map(\.stringValue))"
        } catch DecodingError.keyNotFound(let key, let context) {
            return "no \(key.stringValue) at \(context.codingPath.map(\.stringValue))"
        } catch {
            return "\(error)"
        }
    }
}
