import BeagleNetReplay
import Foundation
import Testing

/// `RecordedTests.swift` beside this file was generated, and is compiled and run with the others.
@Suite struct GeneratedTestsTests {
    @Test func whatIsGeneratedIsWhatRunsHere() throws {
        let path = #filePath.replacing("GeneratedTestsTests.swift", with: "RecordedTests.swift")
        var awkward = SampleRecording.exchange("https://fonts.example.com/css?family=Roboto|Open+Sans", at: 60_000)
        awkward.response?.body = SampleRecording.json(#"{"text":"\u0000 \\(1) é\u0301 \u202e"}"#)
        let tests = GeneratedTests(Recording(SampleRecording.entries + [awkward]), title: "SampleRecording")
        #expect(tests.count > 5)
        let fresh = FileManager.default.temporaryDirectory.appending(path: "RecordedTests.swift")
        if try tests.source != String(contentsOfFile: path, encoding: .utf8) {
            try Data(tests.source.utf8).write(to: fresh)
            Issue.record("other tests are generated now; they are in \(fresh.path)")
        }
    }
}
