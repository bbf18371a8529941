import BeagleNetReplay
import BeagleNetTesting
import CurlPeers
import Foundation
import TestPrograms
import Testing

/// Requests that the installed curl sends when a shell runs the command of an entry.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct EntryCurlCommandTests {
    private static let hasCurl = ["/usr/bin/curl", "/bin/curl", "/usr/local/bin/curl"]
        .contains(where: FileManager.default.isExecutableFile)

    private func entry(
        _ method: String = "POST",
        _ url: String = "http://a/",
        _ fields: [LogEntry.Field] = [],
        _ body: Data? = nil
    ) -> LogEntry {
        let body = body.map { LogEntry.Body(.data($0), mediaType: "text/plain") }
        return LogEntry(
            started: Date(timeIntervalSince1970: 0),
            request: LogEntry.Request(method: method, url: url, httpVersion: "HTTP/1.1", fields: fields, body: body)
        )
    }

    /// Runs a command, and returns its exit status.
    private func run(
        _ command: String,
        _ variables: [String: String] = [:],
        in server: LoopbackServer
    ) async throws -> Int32 {
        // In a file: a command may be longer than an argument can be.
        let script = FileManager.default.temporaryDirectory.appending(path: "curl-\(UUID().uuidString).sh")
        try Data(command.utf8).write(to: script)
        defer { try? FileManager.default.removeItem(at: script) }
        let environment = ["PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": "/nonexistent"].merging(variables) { $1 }
        return try await Program.run("/bin/sh", [script.path], environment: environment, errors: .nullDevice).ending
            .code
    }

    private static let bodies: [Data] = [
        Data(), Data("plain".utf8), Data("it's $(exit 9) `exit 9` \"q\" \\ !! %s \\n \n\r\n\t*".utf8),
        Data("@/etc/passwd".utf8),
        Data("a\0b".utf8), Data((0...255).map { UInt8($0) }), Data("é\u{301}😀".utf8), Data("-d x".utf8),
        Data(repeating: UInt8(ascii: "'"), count: 60_000), Data(repeating: UInt8(ascii: "x"), count: 300_000),
        Data([0xFF, 0x27, 0x25, 0x64, 0x5C, 0x30]), Data("--b\r\n".utf8) + [0xFF],
    ]

    @Test(.enabled(if: hasCurl, "curl is not installed"), arguments: bodies.indices)
    func bodiesArriveByteByByte(index: Int) async throws {
        let server = try LoopbackServer(.response(200))
        let body = Self.bodies[index]
        let command = entry("POST", "\(server.url)/a", [LogEntry.Field("Content-Type", "x/y")], body).curlCommand()
        #expect(try await run(command, in: server) == 0)
        let request = try #require(server.requests.first)
        #expect(request.body == body)
        #expect(request.values(of: "Content-Type") == ["x/y"])
        #expect(request.values(of: "Content-Length") == ["\(body.count)"])
    }

    private static let fieldsAndTargetsArriveUnchangedArguments: [String] = [
        "it's", "$(exit 9)", "`exit 9`", "a  b", "\\", "\"", "*", "~", "a;b", "'\u{301}", "é", "-x", "@/etc/passwd",
        "!!", "",
    ]

    @Test(
        .enabled(if: hasCurl, "curl is not installed"),
        arguments: Self.fieldsAndTargetsArriveUnchangedArguments
    )
    func fieldsAndTargetsArriveUnchanged(value: String) async throws {
        let server = try LoopbackServer(.response(200))
        let fields = [
            LogEntry.Field("X-Value", value), LogEntry.Field("User-Agent", "test/1"),
            LogEntry.Field("X-Value", "again"),
            LogEntry.Field("Host", server.authority), LogEntry.Field("Accept-Encoding", "gzip"),
        ]
        let url = "\(server.url)/a/../[1-3]/{a,b}?q='$(exit)'&b=%20"
        #expect(try await run(entry("PROPFIND", url, fields).curlCommand(), in: server) == 0)
        let request = try #require(server.requests.first)
        #expect(request.method == "PROPFIND")
        #expect(request.target == "/a/../[1-3]/{a,b}?q='$(exit)'&b=%20")
        let sent = request.fields.map { LogEntry.Field($0.name, $0.value) }
        #expect(Set(sent) == Set(fields))
        #expect(sent.count == fields.count)
    }

    @Test(.enabled(if: hasCurl, "curl is not installed"), arguments: ["GET", "HEAD", "DELETE", "OPTIONS", "PUT"])
    func methodsWithoutABodySendNoBody(method: String) async throws {
        let server = try LoopbackServer(.response(200))
        #expect(try await run(entry(method, "\(server.url)/").curlCommand(), in: server) == 0)
        let request = try #require(server.requests.first)
        #expect(request.method == method)
        #expect(request.fields.map(\.name) == ["Host"])
    }

    @Test(.enabled(if: hasCurl, "curl is not installed"))
    func secretsAreReadFromVariablesNamedAfterTheirFields() async throws {
        let server = try LoopbackServer(.response(200))
        let body = #"{"user":{"password":"REDACTED"},"token":"REDACTED:h:0123456789ab","pwd":"REDACTED"}"#
        let fields = [
            LogEntry.Field("Authorization", "Bearer REDACTED"), LogEntry.Field("Cookie", "id=REDACTED; theme=dark"),
            LogEntry.Field("Content-Type", "application/json"),
        ]
        let url = "\(server.url)/a?access_token=REDACTED&b=c"
        let command = entry("POST", url, fields, Data(body.utf8)).curlCommand()
        for name in ["AUTHORIZATION", "COOKIE_ID", "PASSWORD", "TOKEN", "PWD_VALUE", "ACCESS_TOKEN"] {
            #expect(command.contains("\"${\(name):?}\""), "\(name) in \(command)")
        }
        #expect(try await run(command, in: server) != 0, "it must not run without its secrets")
        #expect(server.requests.isEmpty)
        let values = [
            "AUTHORIZATION": "a b", "COOKIE_ID": "c'd", "PASSWORD": "$(exit)", "TOKEN": "t", "PWD_VALUE": "p",
            "ACCESS_TOKEN": "x%20y",
        ]
        #expect(try await run(command, values, in: server) == 0)
        let request = try #require(server.requests.first)
        #expect(request.target == "/a?access_token=x%20y&b=c")
        #expect(request["Authorization"] == "Bearer a b")
        #expect(request["Cookie"] == "id=c'd; theme=dark")
        #expect(
            String(decoding: request.body, as: UTF8.self) == #"{"user":{"password":"$(exit)"},"token":"t","pwd":"p"}"#
        )
    }

    @Test(.enabled(if: hasCurl, "curl is not installed"))
    func secretsInBinaryBodiesAreReadFromVariables() async throws {
        let server = try LoopbackServer(.response(200))
        let body = Data([0, 0xFF]) + Data("password=REDACTED&".utf8) + Data([1])
        let command = entry("POST", "\(server.url)/", [], body).curlCommand()
        #expect(try await run(command, in: server) != 0)
        #expect(server.requests.isEmpty)
        #expect(try await run(command, ["PASSWORD": "a%s\\b"], in: server) == 0)
        #expect(server.requests.first?.body == Data([0, 0xFF]) + Data("password=a%s\\b&".utf8) + Data([1]))
    }

    @Test(.enabled(if: hasCurl, "curl is not installed"))
    func fileIsSentUnchanged() async throws {
        let server = try LoopbackServer(.response(200))
        let file = FileManager.default.temporaryDirectory.appending(path: "it's \(UUID().uuidString)")
        let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try body.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let command = entry("POST", "\(server.url)/", [], body).curlCommand(bodyFile: file.path)
        #expect(try await run(command, in: server) == 0)
        #expect(server.requests.first?.body == body)
    }

    @Test(arguments: [Redactor.Mode.mask, .hash(), .drop])
    func commandWithoutItsSecretsFails(_ mode: Redactor.Mode) throws {
        let form = "application/x-www-form-urlencoded"
        let planted = [
            entry("GET", "http://127.0.0.1:1/?token=canary&a=b"),
            entry("GET", "http://127.0.0.1:1/", [LogEntry.Field("X-Api-Key", "canary")]),
            entry(
                "POST",
                "http://127.0.0.1:1/",
                [LogEntry.Field("Content-Type", form)],
                Data("a=1&password=canary".utf8)
            ),
        ]
        for var entry in planted {
            entry.request.body?.mediaType = form
            let command = entry.redacted(by: Redactor(mode: mode)).curlCommand()
            #expect(command.contains("\nfalse && curl") == (mode == .drop), "\(command)")
            #expect(command.contains(":?}") == (mode != .drop), "\(command)")
            #expect(entry.curlCommand().hasPrefix("curl"))
        }
    }

    @Test func archiveContentCannotInjectIntoTheCommand() {
        let fields = [
            LogEntry.Field("X-A", "b\r\nX-Evil: 1\0"), LogEntry.Field("@/etc/passwd", "x"),
            LogEntry.Field(":authority", "a"),
        ]
        var entry = entry("GET\r\nX: y", "http://a/", fields)
        entry.request.body = LogEntry.Body(.omitted("too large\nrm -rf /"))
        let command = entry.curlCommand()
        #expect(command.hasPrefix("# the body was not recorded: too large rm -rf /\ncurl \\\n"))
        #expect(command.contains("--header 'X-A: b  X-Evil: 1 '"))
        #expect(!command.contains("@") && !command.contains("authority"))
        #expect(!command.contains("\r"))
    }

    @Test func simpleRequestHasAShortCommand() {
        let fields = [LogEntry.Field("User-Agent", "x"), LogEntry.Field("Accept", "*/*")]
        #expect(
            entry("GET", "http://a/", fields).curlCommand()
                == "curl \\\n  --header 'User-Agent: x' \\\n  --header 'Accept: */*' \\\n  --url http://a/"
        )
    }
}
