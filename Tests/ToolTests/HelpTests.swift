import BeagleNetHTTP
import Foundation
import Testing

struct HelpTests {
    @Test func helpDescribesEveryCommandAndOption() async throws {
        let help = try await beagle("--experimental-dump-help").json()
        let command = try #require(help["command"])
        #expect(command["subcommands"]?.array?.isEmpty == false)
        #expect(Self.faults(in: command, after: "") == [])
    }

    /// Commands without a single response don't have its options.
    @Test(arguments: ["outbox flush", "prefetch", "subscribe", "listen", "ws", "crawl"])
    func helpHasNoOptionsThatAreRejected(_ command: String) async throws {
        let words = command.split(separator: " ").map(String.init)
        let help = try await BeagleProcess(words + ["--help"]).outcome().text
        #expect(help.contains("--max-time") && !help.contains("--include"))
        #expect(help.contains("--output") == (command == "crawl"))
        #expect(help.contains("--offline") == (command == "listen"))
    }

    /// Missing texts of a command and its subcommands, options with the same name, and arguments after a repeated one. In
    /// release builds, swift-argument-parser doesn't check the last two.
    private static func faults(in command: JSONValue, after path: String) -> [String] {
        let name = "\(path) \(command["commandName"]?.string ?? "")"
        // The parser's own help command has no abstract and no example.
        let subcommands = (command["subcommands"]?.array ?? []).filter { $0["commandName"] != "help" }
        var found = isSentence(command["abstract"]) ? [] : ["\(name): abstract"]
        for argument in command["arguments"]?.array ?? [] where !isSentence(argument["abstract"]) {
            found.append("\(name): \(argument["preferredName"] ?? argument["valueName"] ?? .null)")
        }
        let names = (command["arguments"]?.array ?? []).flatMap { $0["names"]?.array ?? [] }
        found += Dictionary(grouping: names, by: \.self).filter { $0.value.count > 1 }.map {
            "\(name): two options \($0.key)"
        }
        let operands = (command["arguments"]?.array ?? []).filter { $0["kind"] == "positional" }
        found += operands.dropLast().filter { $0["isRepeating"] == true }.map {
            "\(name): \($0["valueName"] ?? .null) isn't last"
        }
        if subcommands.isEmpty, command["discussion"]?.string?.contains("EXAMPLE\n  ") != true {
            found.append("\(name): example")
        }
        return found + subcommands.flatMap { faults(in: $0, after: name) }
    }

    /// Whether a text ends with a full stop, apart from a default value after it.
    private static func isSentence(_ text: JSONValue?) -> Bool {
        guard let text = text?.string else { return false }
        let end = text.range(of: " (default: ")?.lowerBound ?? text.endIndex
        return text[..<end].hasSuffix(".")
    }
}
