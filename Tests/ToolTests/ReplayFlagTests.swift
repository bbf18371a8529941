import BeagleNetHTTP
import BeagleNetReplay
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

/// `--replay`: commands that use a recording instead of a server.
struct ReplayFlagTests {
    private func withRecording(_ body: (_ path: String) async throws -> Void) async throws {
        try await withDirectory { directory in
            let path = "\(directory)/a.har"
            try Data(Self.archive.utf8).write(to: URL(fileURLWithPath: path))
            try await body(path)
        }
    }

    private static func entry(
        _ method: String,
        _ url: String,
        _ answer: String,
        _ type: String = "application/json",
        posted: String? = nil,
        second: Int
    ) -> JSONValue {
        var request: JSONValue = [
            "method": .string(method), "url": .string(url), "httpVersion": "HTTP/1.1", "cookies": [], "headers": [],
            "queryString": [], "headersSize": -1, "bodySize": -1,
        ]
        if let posted { request["postData"] = ["mimeType": "application/json", "text": .string(posted)] }
        return [
            "startedDateTime": .string("2026-11-22T08:15:3\(second).000Z"), "time": 1, "cache": [:],
            "timings": ["send": 0, "wait": 1, "receive": 0], "request": request,
            "response": [
                "status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "cookies": [], "redirectURL": "",
                "headersSize": -1, "bodySize": -1,
                "headers": [["name": "Content-Type", "value": .string(type)]],
                "content": ["size": -1, "mimeType": .string(type), "text": .string(answer)],
            ],
        ]
    }

    private static let archive: String = {
        let entries: [JSONValue] = [
            entry(
                "GET",
                "http://h.example/home?page=1",
                #"{"_beagleComponent_":"beagle:text","text":"Hi"}"#,
                second: 0
            ),
            entry("GET", "http://h.example/logo", "<svg/>", "image/png", second: 1),
            entry("POST", "http://h.example/form", #"{"ok":true}"#, posted: #"{"name":"Ann"}"#, second: 2),
        ]
        let log: JSONValue = [
            "log": ["version": "1.2", "creator": ["name": "test", "version": "1"], "entries": .array(entries)]
        ]
        return "\(log)"
    }()

    @Test func commandsReceiveRecordedResponses() async throws {
        try await withRecording { path in
            let screen = try await beagle("fetch", "http://h.example/home?page=1", "--tree", "--replay", path)
            #expect(screen.exit == 0)
            #expect(screen.lines.first?.contains("text") == true)
            let raw = try await beagle("raw", "http://h.example/logo", "--replay", path)
            #expect(raw.exit == 0 && raw.text == "<svg/>")
            let image = try await beagle("image", "http://h.example/logo", "--replay", path, "-o", "\(path).png")
            #expect(image.exit == 0)
            #expect(try String(contentsOfFile: "\(path).png", encoding: .utf8) == "<svg/>")
            let form = try await beagle("submit", "http://h.example/form", "name=Ann", "--replay", path)
            #expect(form.exit == 0, "\(form.errors)")
            let batch = try await beagle("batch", "--replay", path, input: #"{"id":1,"url":"http://h.example/logo"}"#)
            #expect(try JSONValue(parsing: Data(batch.text.utf8))["body"] == "<svg/>")
        }
    }

    // MARK: - The environment

    @Test func environmentSelectsARecordingForAllCommands() async throws {
        try await withRecording { path in
            let environment = ["BEAGLENET_REPLAY": "offline:\(path)"]
            let raw = try await BeagleProcess(["raw", "http://h.example/logo"], environment: environment).outcome()
            #expect(raw.exit == 0 && raw.text == "<svg/>", "\(raw.errors)")
            let line = #"{"id":1,"url":"http://h.example/logo"}"#
            let batch = try await BeagleProcess(["batch"], input: line, environment: environment).outcome()
            #expect(try JSONValue(parsing: Data(batch.text.utf8))["body"] == "<svg/>")
            // The command line takes precedence.
            let flag = ["raw", "http://h.example/logo", "--replay", path]
            let other = try await BeagleProcess(flag, environment: ["BEAGLENET_REPLAY": "offline:/none"]).outcome()
            #expect(other.exit == 0)
        }
    }

    @Test(arguments: ["fallback", "live", "record-new"]) func modesWithANetworkSendRequests(_ mode: String) async throws
    {
        try await withDirectory { directory in
            let server = try LoopbackServer(.response(200, ["Content-Type": "text/plain"], "new"))
            let path = "\(directory)/a.bglog"
            let log = try RequestLog(directory: path)
            log.note("begun")
            await log.close()
            func run() async throws -> BeagleProcess.Outcome {
                let environment = ["BEAGLENET_REPLAY": "\(mode):\(path)"]
                return try await BeagleProcess(["raw", server.url], environment: environment).outcome()
            }
            let first = try await run()
            #expect(first.exit == 0 && first.text == "new", "\(first.errors)")
            #expect(first.errors.contains("no response was recorded") == (mode == "live"))
            _ = try await run()
            #expect(server.requests.count == (mode == "record-new" ? 1 : 2))
        }
    }

    @Test(arguments: [("refresh:a.bglog", "BEAGLENET_LOG"), ("offline:/nothing.har", "/nothing.har")])
    func invalidEnvironmentValueIsAnError(_ text: String, _ words: String) async throws {
        let environment = ["BEAGLENET_REPLAY": text]
        let run = try await BeagleProcess(["raw", "http://h.example/"], environment: environment).outcome()
        #expect(run.exit != 0)
        #expect(run.errors.contains(words), "\(run.errors)")
    }

    /// Exit code 26 means that a file cannot be read; 23 would mean that one cannot be written.
    @Test func unreadableBodyExitsWith26() async throws {
        try await withRecording { path in
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let named = text.replacing(#""text":"<svg/>""#, with: #""_file":"none""#)
            #expect(named != text)
            try Data(named.utf8).write(to: URL(fileURLWithPath: path))
            let run = try await beagle("raw", "http://h.example/logo", "--replay", path)
            #expect(run.exit == 26)
            #expect(run.errors.contains("No such file"), "\(run.errors)")
        }
    }

    @Test func missExitsWith103AndListsTheNearestEntry() async throws {
        try await withRecording { path in
            let run = try await beagle("fetch", "http://h.example/home?page=2&token=abc", "--replay", path)
            #expect(run.exit == 103)
            #expect(run.errors.contains("the recording has no response to this request"))
            #expect(run.errors.contains("nearest: GET http://h.example/home?page=1 (query page: 1 → 2"))
            #expect(!run.errors.contains("abc"))
            let json = try await beagle("raw", "http://h.example/home?page=2", "--replay", path, "--json").json()
            #expect(json["exit"] == 103)
            #expect(json["error"]?["code"] == "not_in_recording")
            #expect(json["error"]?["nearest"]?[0]?["differences"]?[0] == "query page: 1 → 2")
        }
    }

    @Test func unreadableRecordingIsAnError() async throws {
        let run = try await beagle("raw", "http://h.example/", "--replay", "/nothing.har")
        #expect(run.exit == 26)
        #expect(run.errors.contains("/nothing.har"))
        #expect(try await beagle("raw", "http://h.example/", "--replay", "").exit == 64)
        let batch = try await beagle("batch", "--replay", "/nothing.har")
        #expect(batch.exit != 0)
        #expect(batch.errors.contains("/nothing.har"))
    }
}
