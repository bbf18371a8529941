import BeagleNetHTTP
import BeagleNetReplay
import Foundation
import Testing

/// `beagle log tail` with a growing log.
@Suite(.timeLimit(.minutes(5))) struct LogTailTests {
    private func entry(_ name: String, _ status: Int = 200) -> LogEntry {
        LogEntry(
            started: Date(timeIntervalSince1970: 1_795_335_330),
            request: LogEntry.Request(method: "GET", url: "https://h/\(name)"),
            response: LogEntry.Response(
                status: status,
                body: LogEntry.Body(.data(Data(name.utf8)), mediaType: "text/plain")
            )
        )
    }

    /// Follows a log that has one entry.
    private func following(
        _ flags: [String] = [],
        segmentBytes: Int64? = nil,
        _ body: (_ log: RequestLog, _ tail: BeagleProcess) async throws -> Void
    ) async throws {
        try await withDirectory { directory in
            var options = RequestLog.Options()
            if let segmentBytes { options.segmentBytes = segmentBytes }
            let log = try RequestLog(directory: "\(directory)/a.bglog", options: options)
            log.append(entry("first"))
            await log.flush()
            let tail = try BeagleProcess(["log", "tail", log.directory] + flags)
            try await body(log, tail)
            tail.interrupt()
            #expect(await tail.outcome().exit == 130)
            await log.close()
        }
    }

    private func append(_ entries: LogEntry..., to log: RequestLog) async {
        for entry in entries { log.append(entry) }
        await log.flush()
    }

    @Test func newEntriesArePrinted() async throws {
        try await following { log, tail in
            #expect(await tail.line().hasSuffix("https://h/first"))
            await append(entry("second", 404), to: log)
            let line = await tail.line()
            #expect(line.contains("404") && line.hasSuffix("https://h/second"), "\(line)")
        }
    }

    /// Appends repeatedly, because the test cannot tell when the tool has read the existing entries.
    @Test func newFlagSkipsExistingEntries() async throws {
        try await following(["--new"]) { log, tail in
            let isSeen = Lock(false)
            let writing = Task {
                while !isSeen.withLock({ $0 }) {
                    await append(entry("later"), to: log)
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            let seen = await tail.line()
            isSeen.withLock { $0 = true }
            try await writing.value
            #expect(!seen.contains("first") && seen.contains("https://h/later"), "\(seen)")
        }
    }

    @Test func jsonPrintsObjects() async throws {
        try await following(["--json"]) { log, tail in
            #expect(try JSONValue(parsing: await tail.line())["url"] == "https://h/first")
            await append(entry("second", 404), to: log)
            let json = try JSONValue(parsing: await tail.line())
            #expect(json["url"] == "https://h/second" && json["status"] == 404)
        }
    }

    @Test func onlyMatchingEntriesAreShown() async throws {
        try await following(["status>=400 || body~big"], segmentBytes: 1 << 20) { log, tail in
            await append(entry("second"), entry("third", 500), to: log)
            #expect(await tail.line().hasSuffix("https://h/third"))
            // Its body is in a file.
            var long = entry("long")
            long.response?.body = LogEntry.Body(
                .data(Data((String(repeating: " ", count: 20_000) + "big").utf8)),
                mediaType: "text/plain"
            )
            await append(long, to: log)
            #expect(await tail.line().hasSuffix("https://h/long"))
        }
    }

    @Test func segmentsAreFollowed() async throws {
        try await following(segmentBytes: 1) { log, tail in
            #expect(await tail.line().hasSuffix("/first"))
            for name in ["second", "third", "fourth"] {
                await append(entry(name), to: log)
                #expect(await tail.line().hasSuffix("/\(name)"))
            }
            let segments = try FileManager.default.contentsOfDirectory(atPath: log.directory)
                .filter { $0.hasSuffix(".jsonl") }
            #expect(segments.count > 3, "\(segments)")
        }
    }
}
