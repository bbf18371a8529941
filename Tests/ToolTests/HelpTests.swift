import ArgumentParser
import BeagleNetHTTP
import Foundation
import Testing

@testable import beagle

struct HelpTests {
    @Test func helpDescribesEveryCommandAndOption() async throws {
        let help = try await beagle("--experimental-dump-help").json()
        let command = try #require(help["command"])
        #expect(command["subcommands"]?.array?.isEmpty == false)
        #expect(Self.faults(in: command, after: "") == [])
    }

    /// Options that are only allowed with others, and these.
    private static let companions: [String: [String]] = [
        "--digest": ["--user", "a:b"], "--proxy-user": ["--proxy", "http://h"],
        "--proxytunnel": ["--proxy", "http://h"],
        "--proxy-header": ["--proxy", "http://h"], "--proxy-cacert": ["--proxy", "https://h"],
        "--cert-type": ["--cert", "f"], "--key": ["--cert", "f"], "--pass": ["--cert", "f"],
        "--cache-mode": ["--cache", "f"], "--cache-user": ["--cache", "f"], "--cache-size": ["--cache", "f"],
        "--cache-key": ["--cache", "f"], "--outbox-key": ["--outbox", "f"], "--outbox-secrets": ["--outbox", "f"],
        "--retry-max-time": ["--retry", "1"], "--show-secrets": ["--offline"], "--number": ["--output", "f"],
        "--images": ["--diff", "b"], "--diff": ["b"],
    ]

    /// Values of options that don't accept the text `f`.
    private static let values: [String: String] = [
        "--header": "A: b", "--max-time": "1", "--connect-timeout": "1", "--limit-rate": "1", "--speed-limit": "1",
        "--speed-time": "1", "--max-filesize": "1", "--user": "a:b", "--max-redirs": "1", "--proxy": "http://h",
        "--proxy-user": "a:b", "--proxy-header": "A: b", "--cert-type": "PEM", "--resolve": "h:1:127.0.0.1",
        "--local-port": "1", "--pinned": "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "--retry": "1",
        "--retry-max-time": "1", "--cache-mode": "http", "--cache-size": "1", "--color": "auto", "--depth": "1",
        "--max-parts": "1", "--custom": "custom:a.b=image", "--max-requests": "1", "--concurrency": "1", "--slow": "1",
        "--heavy": "1", "--heavy-screen": "1", "--format": "text", "--count": "1", "--port": "1", "--max-pixels": "1",
        "--form": "a=b", "--variable": "a=b", "--upload": "a=@f", "--cancels": "1", "--number": "1", "--rps": "1",
        "--repeat": "1", "--order": "free", "--tolerance": "0", "--array-key": "$.a=b", "--method": "POST",
        "--encoding": "json", "--over": "sse", "--continue-at": "1", "--older-than": "1",
    ]

    /// Options that the parser rejects although they have the value and the other options that they need.
    @Test func helpHasOnlyOptionsThatTheParserAccepts() async throws {
        let help = try await beagle("--experimental-dump-help").json()
        #expect(Self.rejected(by: Tool.self, try #require(help["command"])) == [])
    }

    private static func rejected(by type: any ParsableCommand.Type, _ command: JSONValue) -> [String] {
        let subcommands = type.configuration.subcommands
        guard subcommands.isEmpty else {
            return zip(subcommands, command["subcommands"]?.array ?? []).flatMap { rejected(by: $0, $1) }
        }
        let arguments = command["arguments"]?.array ?? []
        let operands = arguments.filter { $0["kind"] == "positional" && $0["isOptional"] != true }.map { _ in
            "http://h/"
        }
        let names = Set(arguments.compactMap(option))
        return arguments.compactMap { argument in
            guard let name = option(argument), !["--help", "--version"].contains(name) else { return nil }
            let others = (companions[name] ?? []).prefix { !$0.hasPrefix("--") || names.contains($0) }
            let value = argument["kind"] == "option" ? [values[name] ?? "f"] : []
            do { _ = try type.parse(operands + others + [name] + value) } catch {
                let text = type.message(for: error)
                let isRejected = text.contains("Unknown option") || text.contains("cannot be used with")
                return isRejected ? "\(command["commandName"] ?? "") \(text)" : nil
            }
            return nil
        }
    }

    private static func option(_ argument: JSONValue) -> String? {
        guard argument["kind"] != "positional", let name = argument["preferredName"]?["name"]?.string else {
            return nil
        }
        return (argument["preferredName"]?["kind"] == "long" ? "--" : "-") + name
    }

    /// Commands without a single response don't have its options.
    @Test(arguments: ["outbox flush", "prefetch", "subscribe", "listen", "ws", "crawl"])
    func helpHasNoOptionsThatAreRejected(_ command: String) async throws {
        let words = command.split(separator: " ").map(String.init)
        let help = try await beagle(words + ["--help"]).text
        #expect(help.contains("--max-time") && !help.contains("--include"))
        #expect(help.contains("--http2") == (command != "ws") && help.contains("--no-compressed") == (command != "ws"))
        #expect(help.contains("--replay") == (command != "prefetch") && !help.contains("--cache-mode <"))
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
