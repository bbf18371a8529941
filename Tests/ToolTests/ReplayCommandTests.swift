import BeagleNetHTTP
import BeagleNetReplay
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

struct ReplayCommandTests {
    private static let python = "/usr/bin/python3"

    /// Writes an archive of these entries: method, URL, fields of the request, and body of the response.
    private func archive(
        _ entries: [(method: String, url: String, headers: [String: String], body: JSONValue)],
        in directory: String
    ) throws -> String {
        let entries = entries.map { entry -> JSONValue in
            [
                "startedDateTime": "2026-11-22T08:15:30.000Z", "time": 1, "cache": [:],
                "timings": ["send": 0, "wait": 1, "receive": 0],
                "request": [
                    "method": .string(entry.method), "url": .string(entry.url), "httpVersion": "HTTP/1.1",
                    "cookies": [],
                    "headers": .array(entry.headers.map { ["name": .string($0.key), "value": .string($0.value)] }),
                    "queryString": [], "headersSize": -1, "bodySize": -1,
                ],
                "response": [
                    "status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "cookies": [], "redirectURL": "",
                    "headersSize": -1, "bodySize": -1,
                    "headers": [["name": "Content-Type", "value": "application/json"]],
                    "content": ["size": -1, "mimeType": "application/json", "text": .string("\(entry.body)")],
                ],
            ]
        }
        let log: JSONValue = [
            "log": ["version": "1.2", "creator": ["name": "test", "version": "1"], "entries": .array(entries)]
        ]
        let path = "\(directory)/a.har"
        try Data("\(log)".utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Runs the tool on an archive of one GET with this body, against a server that returns another.
    private func replay(
        _ recorded: JSONValue,
        _ answer: JSONValue,
        _ flags: [String] = ["--diff"],
        fields: KeyValuePairs<String, String> = ["Content-Type": "application/json"]
    ) async throws -> BeagleProcess.Outcome {
        let server = try LoopbackServer(.response(200, fields, "\(answer)"))
        return try await withDirectory { directory in
            let path = try archive([("GET", "https://api.example.com/a?token=x", [:], recorded)], in: directory)
            return try await beagle(["replay", path, "--target", server.url] + flags)
        }
    }

    @Test func equalResponsesExitWith0() async throws {
        let run = try await replay(["a": 1, "b": [1, 2]], ["b": [1, 2], "a": 1])
        #expect(run.exit == 0)
        #expect(run.text == "1 same, 0 different, 0 failed, 0 skipped\n")
        #expect(run.errors.isEmpty)
    }

    @Test(arguments: [["--diff"], []]) func brokenRecordingIsReportedInTheResult(_ flags: [String]) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "{}"))
        try await withDirectory { directory in
            let path = try archive([("GET", "https://a/", [:], [:]), ("GET", "https://a/", [:], [:])], in: directory)
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            try whole.dropLast(60).write(to: URL(fileURLWithPath: path))
            let arguments = ["replay", path, "--target", server.url, "--json"] + flags
            let run = try await beagle(arguments)
            #expect(run.exit == 101, "\(run.errors)")
            let error = try run.json()["error"]
            #expect(error?["warnings"]?.array?.count == 1)
            #expect(error?["report"] != nil)
            #expect(error?["path"]?.string?.hasPrefix("$.log.entries[1]") == true, "\(run.text)")
            #expect(server.requests.count == 1)
        }
    }

    @Test func differentResponsesExitWith104() async throws {
        let run = try await replay(["a": 1], ["a": 2])
        #expect(run.exit == 104)
        #expect(run.lines.first?.hasPrefix("different  GET http://127.0.0.1:") == true)
        #expect(run.lines.first?.hasSuffix("/a?token=REDACTED") == true)
        #expect(run.lines.dropFirst().first == "  $.a: 1 → 2")
        #expect(run.errors == "beagle: responses differ: 0 same, 1 different, 0 failed, 0 skipped\n")
    }

    @Test func missingBodyExitsWith104() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "1"))
        try await withDirectory { directory in
            let path = try archive([("GET", "https://h/", [:], 1)], in: directory)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let content = #""text":"1""#
            #expect(text.contains(content))
            try Data(text.replacing(content, with: #""_file":"none""#).utf8).write(to: URL(fileURLWithPath: path))
            let arguments = ["replay", path, "--diff", "--target", server.url]
            let run = try await beagle(arguments)
            #expect(run.exit == 104)
            #expect(run.lines.last == "0 same, 1 unchecked, 0 different, 0 failed, 0 skipped")
            #expect(run.errors.contains("--allow-missing-bodies"))
            #expect(try await beagle(arguments + ["--allow-missing-bodies"]).exit == 0)
        }
    }

    private static let flagsSelectComparedPartsArguments: [([String], JSONValue, JSONValue)] = [
        (["--ignore", "$..t", "--ignore", "$.u"], ["a": [["t": 1]], "u": 1], ["a": [["t": 2]], "u": 2]),
        (["--array-key", "$.a=id"], ["a": [["id": 1], ["id": 2]]], ["a": [["id": 1], ["id": 2]]]),
        (["--array-set", "$.a"], ["a": [1, 2, 3]], ["a": [3, 1, 2]]), (["--tolerance", "1e-3"], [1000], [1000.5]),
        (["--types-only"], ["a": 1, "b": "x"], ["a": 2, "b": "y"]),
    ]

    @Test(arguments: Self.flagsSelectComparedPartsArguments)
    func flagsSelectComparedParts(_ flags: [String], _ recorded: JSONValue, _ answer: JSONValue) async throws {
        #expect(try await replay(recorded, answer, ["--diff"] + flags).exit == 0)
        if flags[0] != "--array-key" { #expect(try await replay(recorded, answer).exit == 104) }
    }

    @Test func elementWithAKeyIsReportedAsMoved() async throws {
        let run = try await replay([["id": 1], ["id": 2]], [["id": 2], ["id": 1]], ["--diff", "--array-key", "$=id"])
        #expect(run.exit == 104)
        #expect(run.lines.filter { $0.contains("moved") }.count == 1)
        #expect(run.lines.count == 3)
    }

    @Test func headersCanBeIgnored() async throws {
        let fields: KeyValuePairs = ["Content-Type": "application/json", "X-New": "1", "X-More": "1"]
        #expect(try await replay(1, 1, fields: fields).exit == 104)
        #expect(try await replay(1, 1, ["--diff", "--ignore-header", "x-new,X-More"], fields: fields).exit == 0)
    }

    @Test func secretsAreReadFromTheEnvironment() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "1"))
        try await withDirectory { directory in
            let path = try archive([("GET", "https://h/", ["Authorization": "Bearer REDACTED"], 1)], in: directory)
            let arguments = ["replay", path, "--diff", "--target", server.url]
            let without = try await beagle(arguments)
            #expect(without.exit == 0)
            #expect(without.text.contains("the recording does not contain the secret in Authorization"))
            #expect(without.errors.contains("no response was compared"))
            #expect(server.requests.isEmpty)
            let mapping = ["--map-header", "Authorization=Bearer env:BEAGLE_TEST_TOKEN"]
            let with = try await BeagleProcess(arguments + mapping, environment: ["BEAGLE_TEST_TOKEN": "canary"])
                .outcome()
            #expect(with.exit == 0)
            #expect(server.requests.map { $0["Authorization"] } == ["Bearer canary"])
            #expect(!(with.text + with.errors).contains("canary"))
        }
    }

    @Test func onlySelectedMethodsAreSent() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "1"))
        try await withDirectory { directory in
            let path = try archive(
                [("GET", "https://h/1", [:], 1), ("POST", "https://h/2", [:], 1), ("OPTIONS", "https://h/3", [:], 1)],
                in: directory
            )
            func targets(_ flags: String...) async throws -> [String] {
                let before = server.requests.count
                let run = try await beagle(["replay", path, "--diff", "--target", server.url] + flags)
                #expect(run.exit == 0)
                return server.requests.dropFirst(before).map(\.target)
            }
            #expect(try await targets() == ["/1", "/3"])
            #expect(try await targets("--unsafe-methods") == ["/1", "/2", "/3"])
            #expect(try await targets("--methods", "get,post") == ["/1"])
            #expect(try await targets("--methods", "POST", "--unsafe-methods", "--repeat", "2") == ["/2", "/2"])
            #expect(
                try await targets("--order", "page", "--concurrency", "2", "--rps", "1000", "-m", "5") == ["/1", "/3"]
            )
        }
    }

    @Test func hostMayHaveItsOwnTarget() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "1"))
        try await withDirectory { directory in
            let path = try archive([("GET", "https://one/1", [:], 1), ("GET", "https://two/2", [:], 1)], in: directory)
            let run = try await beagle(["replay", path, "--diff", "--target", "two=\(server.url)"])
            #expect(run.exit == 0)
            #expect(server.requests.map(\.target) == ["/2"])
            #expect(run.text.contains("no target is set for requests to one"))
        }
    }

    @Test func missingResponseExitsWithCurlsCode() async throws {
        let server = try LoopbackServer(.close)
        try await withDirectory { directory in
            let path = try archive([("GET", "https://h/", [:], 1)], in: directory)
            for flags in [["--diff"], []] {
                let run = try await beagle(["replay", path, "--target", server.url] + flags)
                #expect(run.exit == 52)
                #expect(run.text.contains("failed"))
                #expect(run.errors.hasPrefix("beagle:"))
            }
        }
    }

    @Test func latencyIsMeasuredWithoutDiff() async throws {
        let run = try await replay(1, 2, ["--repeat", "3"])
        #expect(run.exit == 0)
        #expect(run.lines.first?.hasPrefix("3 responses in ") == true)
        #expect(run.lines.dropFirst().first == "  status 200: 3")
        let json = try await replay(1, 2, ["--format", "json"]).json()
        #expect(json["answers"] == 1)
        #expect(json["latencyMs"]?["p99"]?.number != nil)
        let envelope = try await replay(1, 2, ["--json"]).json()
        #expect(envelope["ok"] == true)
        #expect(envelope["result"]?["statuses"] == ["200": 1])
    }

    @Test func jsonIsOneObject() async throws {
        let same = try await replay(1, 1, ["--diff", "--json"])
        #expect(try same.json()["result"]?["isSame"] == true)
        let different = try await replay(1, 2, ["--diff", "--json"])
        #expect(different.exit == 104)
        let json = try different.json()
        #expect(json["ok"] == false)
        #expect(json["exit"] == 104)
        #expect(json["error"]?["code"] == "different")
        #expect(json["error"]?["report"]?["entries"]?[0]?["differences"]?[0]?["before"] == "1")
        #expect(json["timing"]?["totalMs"]?.number != nil)
        let report = try await replay(1, 2, ["--diff", "--format", "json"])
        #expect(report.exit == 104)
        #expect(try report.json()["summary"]?["different"] == 1)
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: python), "there is no /usr/bin/python3"))
    func junitIsValidXML() async throws {
        let run = try await replay(["<&\">": "a]]>\u{1}"], ["<&\">": "b"], ["--diff", "--format", "junit"])
        #expect(run.exit == 104)
        let script = """
            import sys, xml.etree.ElementTree as tree
            suites = tree.fromstring(sys.stdin.buffer.read())
            case = suites.find("testsuite/testcase")
            print(suites.tag, suites[0].attrib["failures"], case.attrib["classname"], case.find("failure").text)
            """
        let read = try await BeagleProcess(["-c", script], bytes: run.output, program: Self.python).outcome()
        #expect(read.exit == 0, "\(read.errors)")
        #expect(read.text == "testsuites 1 replay.request $['<&\">']: \"a]]>\\u0001\" → \"b\"\n")
    }

    private static let invalidCommandLineExitsWith64Arguments: [([String], String)] = [
        (["--target", "staging.example.com"], "has no scheme"), (["--target", "http://h/p"], "has a path"),
        ([], "'--target' is missing"),
        (["--target", "http://a", "--target", "http://b"], "is given twice for all hosts"),
        (["--target", "http://h", "--diff", "--map-header", "A=env:BEAGLE_TEST_NONE"], "BEAGLE_TEST_NONE"),
        (["--target", "http://h", "--diff", "--map-header", "A"], "must be Name=value"),
        (["--target", "http://h", "--diff", "--ignore", "$.a["], "invalid at character 5"),
        (["--target", "http://h", "--diff", "--array-key", "$.a"], "must be PATH=MEMBER"),
        (["--target", "http://h", "--diff", "--array-key", "a=id"], "invalid at character 1"),
        (["--target", "http://h", "--diff", "--array-set", "$."], "invalid at character 3"),
        (["--target", "http://h", "--diff", "--tolerance", "2"], "'--tolerance' must be"),
        (["--target", "http://h", "--ignore", "$.a"], "require '--diff'"),
        (["--target", "http://h", "--allow-missing-bodies"], "requires '--diff'"),
        (["--target", "http://h", "--format", "junit"], "requires '--diff'"),
        (["--target", "http://h", "--diff", "--json", "--format", "text"], "cannot be used together"),
        (["--target", "http://h", "--concurrency", "0"], "'--concurrency' must be"),
        (["--target", "http://h", "--repeat", "0"], "'--repeat' must be"),
        (["--target", "http://h", "--rps", "0"], "'--rps' must be"),
        (["--target", "http://h", "-m", "0"], "--max-time"),
        (["--target", "http://h", "--order", "none"], "must be free, connection or page"),
    ]

    @Test(arguments: Self.invalidCommandLineExitsWith64Arguments)
    func invalidCommandLineExitsWith64(_ flags: [String], _ words: String) async throws {
        let run = try await beagle(["replay", "none.har"] + flags)
        #expect(run.exit == 64)
        #expect(run.errors.contains(words), "\(run.errors)")
        #expect(run.output.isEmpty || flags.contains("--json"))
    }

    @Test func unreadableRecordingExitsWith26() async throws {
        try await withDirectory { directory in
            let empty = try archive([], in: directory)
            for path in ["\(directory)/none.har", empty, directory] {
                let run = try await beagle("replay", path, "--diff", "--target", "http://127.0.0.1:1")
                #expect(run.exit == 26, "\(path): \(run.errors)")
                #expect(run.errors.hasPrefix("beagle: "))
            }
            let run = try await beagle("replay", empty, "--json", "--target", "http://127.0.0.1:1")
            #expect(try run.json()["exit"] == 26)
        }
    }

    @Test func methodsThatMatchNoEntryExitWith64() async throws {
        let run = try await replay(1, 1, ["--diff", "--methods", "PURGE"])
        #expect(run.exit == 64)
        #expect(run.errors.contains("no entry of the recording matches"))
    }

    @Test(arguments: [["--diff"], []]) func skippedEntriesFailIfRequested(_ flags: [String]) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "1"))
        try await withDirectory { directory in
            let both = try archive([("GET", "https://h/1", [:], 1), ("DELETE", "https://h/2", [:], 1)], in: directory)
            let arguments = ["replay", both, "--target", server.url] + flags
            let run = try await beagle(arguments)
            #expect(run.exit == 0)
            #expect(run.text.contains("skipped: 1") || run.text.contains("1 same, 0 different, 0 failed, 1 skipped"))
            #expect(run.text.contains("DELETE may change data on the server"))
            #expect(run.errors.isEmpty, "\(run.errors)")
            let strict = try await beagle(arguments + ["--fail-on-skip"])
            #expect(strict.exit == 103)
            #expect(strict.text.contains("DELETE may change data on the server"))
            #expect(strict.errors.contains("skipped entries: 1"))
            let json = try await beagle(arguments + ["--fail-on-skip", "--json"]).json()
            #expect(json["error"]?["code"] == "skipped" && json["exit"] == 103)
            #expect(json["error"]?["report"] != nil)
            let one = try archive([("GET", "https://h/1", [:], 1)], in: directory)
            let whole = ["replay", one, "--target", server.url, "--fail-on-skip"] + flags
            #expect(try await beagle(whole).exit == 0)
            let none = try archive([("DELETE", "https://h/2", [:], 1)], in: directory)
            let nothing = try await beagle(["replay", none, "--target", server.url] + flags)
            #expect(nothing.exit == 0)
            #expect(nothing.errors.contains("skipped"))
        }
    }

    @Test func differenceTakesPrecedenceOverASkippedEntry() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "2"))
        try await withDirectory { directory in
            let path = try archive([("GET", "https://h/1", [:], 1), ("PUT", "https://h/2", [:], 1)], in: directory)
            let arguments = ["replay", path, "--diff", "--fail-on-skip", "--target", server.url]
            #expect(try await beagle(arguments).exit == 104)
        }
    }

    @Test func sentRequestsAreRecorded() async throws {
        try await withDirectory { directory in
            let log = "\(directory)/a.bglog"
            #expect(try await replay(["a": 1], ["a": 1], ["--diff", "--record", log]).exit == 0)
            #expect(try await replay(["a": 1], ["a": 2], ["--repeat", "2", "--record", log]).exit == 0)
            let entries = Array(try RequestLog.Reader(directory: log).entries())
            let bodies = [1, 2, 2].map { LogEntry.Body.Content.data(Data("{\"a\":\($0)}".utf8)) }
            #expect(entries.map { $0.response?.body.content } == bodies)
            #expect(entries.allSatisfy { $0.request.url.hasSuffix("/a?token=REDACTED") })
        }
        let run = try await replay(1, 1, ["--record", "/proc/a.bglog"])
        #expect(run.exit == 23)
    }
}
