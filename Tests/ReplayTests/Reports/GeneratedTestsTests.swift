import BeagleNetReplay
import Foundation
import Testing

/// `RecordedTests.swift` in this folder was generated, and is compiled and run with the other tests.
struct GeneratedTestsTests {
    @Test func generatedTestsAreThoseInThisFolder() throws {
        let path = #filePath.replacing("GeneratedTestsTests.swift", with: "RecordedTests.swift")
        var awkward = SampleRecording.exchange("https://fonts.example.com/css?family=Roboto|Open+Sans", at: 60_000)
        awkward.response?.body = SampleRecording.json(#"{"text":"\u0000 \\(1) é\u0301 \u202e"}"#)
        let tests = Recording.GeneratedTests(
            Recording(SampleRecording.entries + [awkward] + Self.repeatedRequests),
            title: "SampleRecording"
        )
        #expect(tests.count == 18)
        #expect(tests.omittedCount == 1, "a WebSocket gets no test")
        let fresh = FileManager.default.temporaryDirectory.appending(path: "RecordedTests.swift")
        if try tests.source != String(contentsOfFile: path, encoding: .utf8) {
            try Data(tests.source.utf8).write(to: fresh)
            Issue.record("the generated tests have changed; they are in \(fresh.path)")
        }
    }

    /// Operations at one URL, different forms, a form that is sent twice, and responses that change.
    private static let repeatedRequests: [LogEntry] = {
        let api = "https://api.example.com"
        let sent: [(url: String, body: String, type: String, answer: String)] = [
            ("graphql", #"{"query":"query Offers { offers }"}"#, "application/json", #"{"data":{"offers":[]}}"#),
            ("graphql", #"{"query":"query Me { me }"}"#, "application/json", #"{"data":{"me":1}}"#),
            ("login", #"{"email":"bo@example.com","password":"REDACTED"}"#, "application/json", #"{"ok":1}"#),
            ("login", #"{"email":"bo@example.com","password":"REDACTED"}"#, "application/json", #"{"ok":true}"#),
            ("bytes", "", "application/octet-stream", "1"),
            (
                "upload", "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--\r\n",
                "multipart/form-data; boundary=b", "1"
            ),
        ]
        var entries = sent.enumerated().map { index, sent in
            var entry = SampleRecording.exchange("\(api)/\(sent.url)", method: "POST", at: 70_000 + Double(index))
            entry.request.body = LogEntry.Body(.data(Data(sent.body.utf8)), mediaType: sent.type)
            entry.response?.body = SampleRecording.json(sent.answer)
            return entry
        }
        entries[4].request.body = LogEntry.Body(.data(Data([0xFF, 0])), mediaType: "application/octet-stream")
        let states = [(503, "0"), (200, "[1]"), (200, "[2]")]
        return entries
            + states.enumerated().map { index, state in
                var entry = SampleRecording.exchange("\(api)/state", at: 71_000 + Double(index), status: state.0)
                entry.response?.body = SampleRecording.json(state.1)
                return entry
            }
    }()
}
