import BeagleNetReplay
import Foundation
import Testing

struct LogStatisticsTests {
    private func entry(_ milliseconds: Int) -> LogEntry {
        LogEntry(
            started: Date(timeIntervalSince1970: 0),
            request: LogEntry.Request(method: "GET", url: "http://a/"),
            response: LogEntry.Response(status: 200),
            timings: LogEntry.Timings(wait: .milliseconds(milliseconds))
        )
    }

    @Test func percentilesUseTheNearestRank() {
        let all = Recording.Statistics(Recording((1...200).reversed().map(entry))).all
        #expect(all.percentile(0.5) == .milliseconds(100))
        #expect(all.percentile(0.9) == .milliseconds(180))
        #expect(all.percentile(0.99) == .milliseconds(198))
        #expect(all.percentile(0) == .milliseconds(1))
        #expect(all.percentile(1) == .milliseconds(200))
        #expect(all.percentile(1.1) == nil)
        #expect(Recording.Statistics(Recording([])).all.percentile(0.5) == nil)
        #expect(Recording.Statistics(Recording([entry(7)])).all.percentile(0.5) == .milliseconds(7))
    }

    @Test func outcomesAreCounted() {
        let all = Recording.Statistics(SampleRecording.recording).all
        #expect(all.count == 12)
        #expect(all.failures == 2)
        #expect(all.errorStatuses == 2)
        #expect(all.redirects == 1)
        #expect(all.fromStore == 1)
        #expect(all.fromServer == 9)
        #expect(all.shareOfReused == 7.0 / 9)
    }

    @Test func groupsAreSortedByFrequency() throws {
        let statistics = Recording.Statistics(SampleRecording.recording)
        #expect(statistics.kinds.map(\.name) == ["component", "image", "raw", "form", "other", "query"])
        #expect(statistics.kinds.map(\.count) == [5, 2, 2, 1, 1, 1])
        #expect(statistics.hosts.map(\.name) == ["api.example.com", "cdn.example.com"])
        #expect(statistics.operations.map(\.name) == ["Offers"])
        let images = Recording.Statistics(SampleRecording.recording, filter: try Recording.Filter("type==fetchImage"))
        #expect(images.all.count == 2)
        #expect(images.hosts.map(\.name) == ["cdn.example.com"])
    }

    @Test func byteCountsDoNotOverflow() {
        var large = entry(1)
        large.response?.bodyBytes = .max
        large.request.headBytes = 10
        #expect(Recording.Statistics(Recording([large, large])).all.bytesReceived == .max)
        #expect(Recording.Statistics(Recording([large, large])).all.bytesSent == 20)
    }
}
