import BeagleNetReplay
import Foundation
import TestPrograms
import Testing

struct HTMLReportTests {
    private func text(of report: Recording.HTMLReport) throws -> String {
        String(decoding: try report.page(), as: UTF8.self)
    }

    private func page(_ recording: Recording = SampleRecording.recording, filter: String? = nil) throws -> Data {
        try Recording.HTMLReport(recording, title: "s<1>.bglog", filter: filter.map { try Recording.Filter($0) }).page()
    }

    @Test func logContentIsEscaped() throws {
        let text = String(decoding: try page(), as: UTF8.self)
        #expect(text.components(separatedBy: "<script").count == 3)
        #expect(text.components(separatedBy: "</script").count == 3)
        #expect(!text.contains("<img"))
        #expect(!text.contains("<!--"))
        #expect(text.contains("<title>s&lt;1>.bglog</title>"))
    }

    @Test func pageLoadsNoExternalResources() throws {
        let text = String(decoding: try page(), as: UTF8.self)
        #expect(text.contains("default-src 'none'; img-src data:;"))
        for word in [" src=\"", " href=\"", "url(", "@import", "onclick", "style=\""] {
            #expect(!text.contains(word), "\(word)")
        }
    }

    @Test func secretsOfAnArchiveAreRedacted() throws {
        #expect(!String(decoding: try page(), as: UTF8.self).contains(SampleRecording.secret))
        let all = Recording.HTMLReport(SampleRecording.recording, title: "", redactor: nil)
        #expect(String(decoding: try all.page(), as: UTF8.self).contains(SampleRecording.secret))
    }

    @Test func aThousandLargeEntriesFitIntoTwoMegabytes() throws {
        let text = String(repeating: #"{"name":"<a long text>\n"},"#, count: 400)
        let image = LogEntry.Body(.data(Data(repeating: 7, count: 90_000)), mediaType: "image/png")
        let entries = (0..<1000).map { number in
            let body = number % 3 == 0 ? image : SampleRecording.json("[\(text)\(number)]")
            var entry = SampleRecording.exchange("https://api.example.com/\(number)", at: Double(number), body: body)
            entry.response?.fields = (0..<12).map {
                LogEntry.Field("X-Field-\($0)", String(repeating: "v\(number)", count: 9))
            }
            return entry
        }
        let size = try page(Recording(entries)).count
        #expect(size < 2_000_000)
        #expect(size > 1_800_000, "the limit is not used up")
    }

    @Test func longBodyIsCutBetweenCharacters() throws {
        let body = LogEntry.Body(.data(Data(String(repeating: "é", count: 100_000).utf8)), mediaType: "text/plain")
        let report = Recording.HTMLReport(
            Recording([SampleRecording.exchange("http://a/", at: 0, body: body)]),
            title: ""
        )
        let text = try text(of: report)
        #expect(text.contains(#"é","cut":true"#))
        #expect(!text.contains("\u{FFFD}"))
    }

    @Test(arguments: ["time>1ms", "status==999"])
    func filterSelectsEntries(filter: String) throws {
        let text = String(decoding: try page(filter: filter), as: UTF8.self)
        #expect(text.contains("/home") == (filter == "time>1ms"))
    }

    // MARK: In a browser

    @Suite(.enabled(if: Chromium.isInstalled, "chromium is not installed"), .timeLimit(.minutes(5)))
    struct InABrowser {
        private let page: Data

        init() throws {
            page = try Recording.HTMLReport(SampleRecording.recording, title: "s.bglog").page()
        }

        private func rows(_ page: Chromium.Page) -> [Int] {
            page.elements.matches(of: /id="entry-([0-9]+)"/).compactMap { Int($0.output.1) }
        }

        @Test func everyEntryHasARowWithItsPhases() async throws {
            let page = try await Chromium.open(page)
            #expect(rows(page) == Array(1...12))
            #expect(page.count(of: "title=\"tls 30 ms\"") == 2)
            #expect(page.elements.contains("12 of 12"))
            #expect(page.elements.contains("without requests, not drawn"))
            #expect(!page.notes.contains("Content Security Policy"), "\(page.notes)")
            #expect(!page.notes.contains("Uncaught"), "\(page.notes)")
        }

        @Test func serverContentStaysText() async throws {
            let page = try await Chromium.open(page, "#open=1,2,3,4,5,6,7,8,9,10,11,12")
            #expect(page.elements.contains("<title>s.bglog</title>"))
            #expect(!page.elements.contains("<img src=\"x\""))
            #expect(page.count(of: "<img alt=\"image\" src=\"data:image/") == 2)
            #expect(page.count(of: "<mark title=") >= 5)
            #expect(page.elements.contains("\"price\": 1.10,\n  \"big\": 12345678901234567890123,\n  \"a\": []"))
            #expect(page.elements.contains("← 0.3 s  2 bytes"))
            #expect(page.elements.contains("after entry 9"))
            #expect(!page.notes.contains("Content Security Policy"), "\(page.notes)")
            #expect(!page.notes.contains("Uncaught"), "\(page.notes)")
        }

        private static let entriesAreFilteredAndSortedArguments: [(String, [Int])] = [
            ("#filter=4xx", [6]), ("#filter=api.example.com+-json+-failed+-5xx", [5, 8, 11]),
            ("#filter=offers", [4, 7]),
            ("#kinds=image", [2, 3]), ("#sort=-time&filter=component", [9, 4, 1, 5, 8]), ("#filter=nosuch", []),
            ("#filter=failed&sort=-n", [12, 10]),
        ]

        @Test(arguments: Self.entriesAreFilteredAndSortedArguments)
        func entriesAreFilteredAndSorted(address: String, numbers: [Int]) async throws {
            #expect(rows(try await Chromium.open(page, address)) == numbers)
        }

        @Test func anEmptyRecordingHasAPage() async throws {
            let page = try await Chromium.open(try Recording.HTMLReport(Recording([]), title: "none").page())
            #expect(page.elements.contains("0 of 0"))
            #expect(!page.notes.contains("Uncaught"), "\(page.notes)")
        }
    }
}
