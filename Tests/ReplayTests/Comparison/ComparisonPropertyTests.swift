import BeagleNetHTTP
import BeagleNetTesting
import Testing

@testable import BeagleNetReplay

/// Random documents and edits, the same in each run.
struct ComparisonPropertyTests {
    private indirect enum Value {
        case scalar(String), array([Value]), object([(String, Value)])

        /// As JSON, with random order of members and random whitespace.
        func json(_ random: inout SeededGenerator) -> String {
            switch self {
            case .scalar(let text): return text
            case .array(let elements):
                return "["
                    + elements.map { $0.json(&random) }.joined(
                        separator: [",", " , "].randomElement(using: &random) ?? ","
                    ) + "]"
            case .object(let members):
                let texts = members.shuffled(using: &random).map { "\"\($0.0)\":\($0.1.json(&random))" }
                return "{" + texts.joined(separator: ",\n") + "}"
            }
        }

        static func random(_ depth: Int, _ random: inout SeededGenerator) -> Value {
            switch Int.random(in: 0..<(depth > 0 ? 8 : 4), using: &random) {
            case 0: return .scalar("\(Int.random(in: 0..<5, using: &random))")
            case 1: return .scalar("\"t\(Int.random(in: 0..<5, using: &random))\"")
            case 2: return .scalar("1.5e\(Int.random(in: 0..<3, using: &random))")
            case 3: return .scalar(["true", "false", "null"].randomElement(using: &random) ?? "null")
            case 4, 5:
                return .array((0..<Int.random(in: 0..<5, using: &random)).map { _ in .random(depth - 1, &random) })
            default:
                return .object(
                    (0..<Int.random(in: 0..<5, using: &random)).map { ("m\($0)", .random(depth - 1, &random)) }
                )
            }
        }

        /// Replaces a random value with a unique one, and returns its path.
        mutating func edit(_ random: inout SeededGenerator) -> String {
            switch self {
            case .array(var elements) where !elements.isEmpty:
                let index = elements.indices.randomElement(using: &random) ?? 0
                let place = elements[index].edit(&random)
                self = .array(elements)
                return "[\(index)]" + place
            case .object(var members) where !members.isEmpty:
                let index = members.indices.randomElement(using: &random) ?? 0
                let place = members[index].1.edit(&random)
                self = .object(members)
                return "." + members[index].0 + place
            default:
                self = .scalar("\"edited\"")
                return ""
            }
        }
    }

    @Test func onlyTheEditOfADocumentIsReported() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            var value = Value.random(5, &random)
            let before = try ParsedJSON(Array(value.json(&random).utf8))
            let again = try ParsedJSON(Array(value.json(&random).utf8))
            #expect(JSONComparison.differences(before, again, .init()).isEmpty)
            let place = "$" + value.edit(&random)
            let after = try ParsedJSON(Array(value.json(&random).utf8))
            for (one, other) in [(before, after), (after, before)] {
                let found = JSONComparison.differences(one, other, .init())
                #expect(found.list.map(\.place) == [place])
            }
        }
    }
}
