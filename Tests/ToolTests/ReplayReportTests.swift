import BeagleNetHTTP
import BeagleNetReplay
import BeagleNetTesting
import Foundation
import Testing

/// The reports of `beagle replay` for different kinds of responses.
struct ReplayReportTests {
    private func entry(
        _ path: String,
        method: String = "GET",
        fields: [LogEntry.Field] = [],
        _ body: Data,
        _ type: String = "application/json"
    ) -> LogEntry {
        LogEntry(
            started: Date(timeIntervalSince1970: 1_795_335_330),
            request: LogEntry.Request(method: method, url: "https://h\(path)", fields: fields),
            response: LogEntry.Response(
                status: 200,
                fields: [LogEntry.Field("Content-Type", type)],
                body: LogEntry.Body(.data(body), mediaType: type)
            ),
            kind: "component"
        )
    }

    /// Runs the tool on an archive of these entries.
    private func replay(
        _ entries: [LogEntry],
        _ server: LoopbackServer,
        _ flags: [String],
        environment: [String: String] = [:]
    ) async throws -> BeagleProcess.Outcome {
        try await withDirectory { directory in
            try Recording(entries).writeHAR(to: "\(directory)/a.har")
            let arguments = ["replay", "\(directory)/a.har", "--target", server.url] + flags
            return try await BeagleProcess(arguments, environment: environment).outcome()
        }
    }

    @Test func pathsNameComponents() async throws {
        let screen = #"""
            {"_beagleComponent_":"beagle:screenComponent","child":{"_beagleComponent_":"beagle:container","children":[
            {"_beagleComponent_":"beagle:text","id":"title","text":"Hi"},{"_beagleComponent_":"custom:chart","id":"c","n":1}]}}
            """#
        let answer = screen.replacing("\"Hi\"", with: "\"Hello\"").replacing("\"n\":1", with: "\"n\":1.0")
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], answer))
        let run = try await replay([entry("/home", Data(screen.utf8))], server, ["--diff"])
        #expect(run.exit == 104)
        #expect(run.lines.dropFirst().first == #"  $.child.children[text#title].text: "Hi" → "Hello""#)
        #expect(run.lines.count == 3, "\(run.text)")
        let json = try await replay([entry("/home", Data(screen.utf8))], server, ["--diff", "--format", "json"]).json()
        #expect(json["entries"]?[0]?["differences"]?[0]?["place"] == "$.child.children[text#title].text")
    }

    @Test func imagesAreComparedByBytes() async throws {
        let (one, other) = (Data([0x89, 0x50, 0x4E, 0x47, 0]), Data([0x89, 0x50, 0x4E, 0x47, 1, 2]))
        let server = try LoopbackServer(
            .raw(Data("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 6\r\n\r\n".utf8) + other)
        )
        let run = try await replay([entry("/a.png", one, "image/png")], server, ["--diff"])
        #expect(run.exit == 104)
        let difference = try #require(run.lines.dropFirst().first)
        let digests = try [one, other].map { try SHA256Digest.hex(of: $0) }
        #expect(difference.hasPrefix("  body: ") && difference.contains("5 bytes of image/png"), "\(difference)")
        #expect(digests.allSatisfy(difference.contains))
        #expect(try await replay([entry("/a.png", other, "image/png")], server, ["--diff"]).exit == 0)
    }

    /// Recorded and received bodies are both compared decoded.
    @Test func encodedResponsesAreComparedDecoded() async throws {
        let text = #"{"a":1,"b":"\#(String(repeating: "the same words ", count: 500))"}"#
        var recorded = entry("/a", Data(text.utf8))
        recorded.response?.fields.append(LogEntry.Field("Content-Encoding", "gzip"))
        let target = try RecordedServer(Recording([recorded]))
        let other = try RecordedServer(Recording([entry("/a", Data(text.replacing("1", with: "2").utf8))]))
        try await withDirectory { directory in
            try Recording([recorded]).writeHAR(to: "\(directory)/a.har")
            func replay(_ server: RecordedServer) async throws -> BeagleProcess.Outcome {
                try await beagle(
                    "replay",
                    "\(directory)/a.har",
                    "--diff",
                    "--target",
                    server.url,
                    "--ignore-header",
                    "content-encoding"
                )
            }
            let same = try await replay(target)
            #expect(same.exit == 0, "\(same.text)")
            let different = try await replay(other)
            #expect(different.exit == 104)
            #expect(different.lines.dropFirst().first == "  $.a: 1 → 2", "\(different.text)")
        }
    }

    @Test func junitHasACaseForEachOutcome() async throws {
        let server = try LoopbackServer { request in
            switch request.target {
            case "/same": .response(200, ["Content-Type": "application/json"], "1")
            case "/different": .response(200, ["Content-Type": "application/json"], #"{"<&>":2}"#)
            default: .close
            }
        }
        let entries = [
            entry("/same", Data("1".utf8)), entry("/different", Data(#"{"<&>":1}"#.utf8)),
            entry("/failed", Data("1".utf8)), entry("/skipped", method: "POST", Data("1".utf8)),
        ]
        let run = try await replay(entries, server, ["--diff", "--format", "junit"])
        #expect(run.exit == 52)
        #expect(run.text.contains(#"<testsuite name="replay" tests="4" failures="1" errors="1" skipped="1""#))
        let cases = run.text.split(separator: "<testcase ").dropFirst()
        #expect(cases.count == 4)
        for (text, (path, element)) in zip(
            cases,
            [("same", ""), ("different", "<failure "), ("failed", "<error "), ("skipped", "<skipped ")]
        ) {
            #expect(text.contains("/\(path)\" classname=\"replay.component\""), "\(text)")
            let elements = ["<failure ", "<error ", "<skipped "].filter(text.contains)
            #expect(elements == (element.isEmpty ? [] : [element]), "\(text)")
        }
        #expect(run.text.contains("$['&lt;&amp;&gt;']: 1 → 2"))
    }

    @Test func percentilesAreInOrder() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "1"))
        let flags = ["--rps", "500", "--repeat", "40", "--concurrency", "8", "--format", "json"]
        let run = try await replay([entry("/a", Data("1".utf8))], server, flags)
        #expect(run.exit == 0)
        let json = try run.json()
        #expect(json["answers"] == 40 && json["statuses"] == ["200": 40])
        for latency in [json["latencyMs"], json["latencyMsByKind"]?["component"]] {
            let values = ["min", "p50", "p90", "p99", "p99.9", "max"].compactMap { latency?[$0]?.number }
            #expect(values.count == 6 && values == values.sorted(), "\(run.text)")
            #expect(values[0] > 0)
        }
        #expect(server.requests.count == 40)
        // The last request is due after 39/500 seconds.
        #expect(try #require(json["durationMs"]?.number) >= 78)
    }

    @Test(arguments: [["--format", "text"], ["--json"], ["--format", "json"], ["--format", "junit"]])
    func mappedHeaderValueIsNotShown(_ format: [String]) async throws {
        let canary = "canary-5eCr3t"
        let server = try LoopbackServer { request in
            let sent = request["X-Session"] ?? ""
            // The server echoes the value as a field, in JSON, in a line of text, and as the reason phrase.
            return switch request.target {
            case "/json":
                .response(200, ["Content-Type": "application/json", "X-Session": sent], #"{"session":"\#(sent)"}"#)
            case "/text": .response(200, ["Content-Type": "text/plain"], "hello \(sent)")
            case "/field": .response(200, ["Content-Type": "application/json", "X-Echo": sent], "1")
            default: .raw("HTTP/1.1 599 \(sent)\r\nLocation: http://\(sent)/\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let entries = [
            entry("/json", Data(#"{"session":"REDACTED","a":1}"#.utf8)),
            entry("/text", Data("hello".utf8), "text/plain"),
            entry("/field", Data("1".utf8)), entry("/status", Data("1".utf8)),
        ]
        let mapping = ["--map-header", "X-Session=env:BEAGLE_TEST_CANARY"]
        let run = try await replay(
            entries,
            server,
            ["--diff"] + format + mapping,
            environment: ["BEAGLE_TEST_CANARY": canary]
        )
        #expect(run.exit == 104)
        #expect(server.requests.allSatisfy { $0["X-Session"] == canary } && server.requests.count == 4)
        #expect(!(run.text + run.errors).contains(canary), "\(run.text)")
    }
}
