import BeagleNetHTTP
import Foundation
import Testing

@testable import beagle

/// `--replay`: commands answered by a recording, with no server about.
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
            entry("GET", "http://h.example/logo", "bytes", "image/png", second: 1),
            entry("POST", "http://h.example/form", #"{"ok":true}"#, posted: #"{"name":"Ann"}"#, second: 2),
        ]
        let log: JSONValue = [
            "log": ["version": "1.2", "creator": ["name": "test", "version": "1"], "entries": .array(entries)]
        ]
        return "\(log)"
    }()

    @Test func commandsAreAnsweredByTheRecording() async throws {
        try await withRecording { path in
            let screen = try await beagle("fetch", "http://h.example/home?page=1", "--tree", "--replay", path)
            #expect(screen.exit == 0)
            #expect(screen.lines.first?.contains("text") == true)
            let raw = try await beagle("raw", "http://h.example/logo", "--replay", path)
            #expect(raw.exit == 0 && raw.text == "bytes")
            let image = try await beagle("image", "http://h.example/logo", "--replay", path, "-o", "\(path).png")
            #expect(image.exit == 0)
            #expect(try String(contentsOfFile: "\(path).png", encoding: .utf8) == "bytes")
            let form = try await beagle("submit", "http://h.example/form", "name=Ann", "--replay", path)
            #expect(form.exit == 0, "\(form.errors)")
            let batch = try await beagle("batch", "--replay", path, input: #"{"id":1,"url":"http://h.example/logo"}"#)
            #expect(try JSONValue(parsing: Data(batch.text.utf8))["body"] == "bytes")
        }
    }

    @Test func aMissEndsWith103AndTellsWhatIsNearest() async throws {
        try await withRecording { path in
            let run = try await beagle("fetch", "http://h.example/home?page=2&token=abc", "--replay", path)
            #expect(run.exit == 103)
            #expect(run.errors.contains("the recording has no answer to this request"))
            #expect(run.errors.contains("nearest: GET http://h.example/home?page=1 (query page: 1 → 2"))
            #expect(!run.errors.contains("abc"))
            let json = try await beagle("raw", "http://h.example/home?page=2", "--replay", path, "--json").json()
            #expect(json["exit"] == 103)
            #expect(json["error"]?["code"] == "not_in_recording")
            #expect(json["error"]?["nearest"]?[0]?["differences"]?[0] == "query page: 1 → 2")
        }
    }

    @Test func aRecordingThatCannotBeReadIsAnError() async throws {
        let run = try await beagle("raw", "http://h.example/", "--replay", "/nothing.har")
        #expect(run.exit == 26)
        #expect(run.errors.contains("/nothing.har"))
        #expect(try await beagle("raw", "http://h.example/", "--replay", "").exit == 64)
        let batch = try await beagle("batch", "--replay", "/nothing.har")
        #expect(batch.exit != 0)
        #expect(batch.errors.contains("/nothing.har"))
    }
}
