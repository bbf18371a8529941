import BeagleNetHTTP
import Dispatch
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite(.timeLimit(.minutes(5))) struct LogWriterTests {
    private static let exchange = 1_000_000

    private func draft(_ url: String, _ body: LogEntry.Body = LogEntry.Body(.omitted("not written")))
        -> LogJob.ClosureDraft
    {
        LogJob.ClosureDraft(redactor: Redactor()) {
            var entry = LogEntry.sample(url: url)
            entry.response?.body = body
            return entry
        }
    }

    private func open() -> LogJob {
        LogJob(exchange: Self.exchange, work: .open(.response, mediaType: "image/png", Redactor()), bytes: 0)
    }

    private func chunk(_ count: Int) -> LogJob {
        LogJob(exchange: Self.exchange, work: .chunk(.response, Data(repeating: 7, count: count)), bytes: count)
    }

    private func end(_ body: LogEntry.Body = LogEntry.Body(.omitted("not written")), isBodiless: Bool = false) -> LogJob
    {
        let work = LogJob.Work.end(draft("https://a.example/it", body))
        return LogJob(exchange: Self.exchange, work: work, bytes: LogJob.headBytes, isBodiless: isBodiless)
    }

    private func it(_ path: String) throws -> LogEntry? {
        try RequestLog.Reader.read(path).entries.first { $0.request.url.hasSuffix("/it") }
    }

    private func bodies(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(path)/bodies")
    }

    // MARK: Overload

    @Test func bodyIsTruncatedIfTheQueueIsFull() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            log.whileWriterWaits { queue in
                queue.fill(leaving: 1)
                queue.add(open())
                queue.add(chunk(100))
            }
            await log.flush()
            log.session.queue.add(chunk(100))
            log.session.queue.add(end(LogEntry.Body(.data(Data()), size: 200)))
            await log.flush()
            let body = try #require(try it(path)?.response?.body)
            #expect(body.isTruncated)
            #expect(body.size == 200)
            withExtendedLifetime(log) {}
        }
    }

    @Test func reopenedBodyIsNotTruncated() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            log.whileWriterWaits { queue in
                queue.fill(leaving: 2)
                for _ in 0..<3 { queue.add(chunk(100)) }
                queue.add(open())
                queue.add(chunk(100))
            }
            await log.flush()
            log.session.queue.add(end(LogEntry.Body(.data(Data()), size: 100)))
            await log.flush()
            let body = try #require(try it(path)?.response?.body)
            #expect(!body.isTruncated)
            #expect(body.content == .data(Data(repeating: 7, count: 100)))
            withExtendedLifetime(log) {}
        }
    }

    @Test func streamedBodyIsKeptIfTheEndHasNoBody() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            log.session.queue.add(open())
            log.session.queue.add(chunk(3))
            log.session.queue.add(end(LogEntry.Body(.data(Data()), size: 3), isBodiless: true))
            await log.flush()
            #expect(try it(path)?.response?.body.content == .data(Data([7, 7, 7])))
            withExtendedLifetime(log) {}
        }
    }

    @Test func droppedEndLeavesNoBodyFile() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            log.session.queue.add(open())
            log.session.queue.add(chunk(40_000))
            await log.flush()
            #expect(try bodies(path).map { $0.hasSuffix(".part") } == [true])
            log.whileWriterWaits { queue in
                queue.fill(leaving: 0)
                queue.add(end())
            }
            await log.flush()
            #expect(try it(path) == nil)
            #expect(try bodies(path) == [])
            withExtendedLifetime(log) {}
        }
    }

    @Test func losslessLogKeepsEveryEntry() async throws {
        try await withLogDirectory { path in
            var options = RequestLog.Options()
            options.isLossless = true
            let log = try RequestLog(directory: path, options: options)
            for number in 0..<3_000 { log.append(.sample(Double(number))) }
            await log.flush()
            #expect(try RequestLog.Reader.read(path).entries.count == 3_000)
            withExtendedLifetime(log) {}
        }
    }

    // MARK: Failures

    @Test func failedCleanupLosesNoRecord() async throws {
        try await withLogDirectory { path in
            // Listed, but missing when it is opened, as when another process clears up at the same time.
            let directory = LogDirectory(path: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: directory.segment(1),
                withDestinationPath: "\(path)/gone"
            )
            try Data().write(to: URL(fileURLWithPath: directory.segment(2)))
            // A file that cannot be listed as a directory.
            try Data().write(to: URL(fileURLWithPath: directory.bodies))
            var options = RequestLog.Options()
            // Exceeded, but the only segment with records isn't removed, however long the test takes.
            options.maxBytes = 1
            options.pauseAfterFailure = .seconds(3_600)
            let log = try RequestLog(directory: path, options: options)
            for number in 0..<40 {
                log.append(.sample(Double(number)))
                await log.flush()
            }
            #expect(try RequestLog.Reader.read(path).entries.count == 40)
            withExtendedLifetime(log) {}
        }
    }

    @Test func failedBodyWriteLosesNoRecord() async throws {
        try await withLogDirectory { path in
            var options = RequestLog.Options()
            options.pauseAfterFailure = .seconds(3_600)
            let log = try RequestLog(directory: path, options: options)
            await log.flush()
            try Data().write(to: URL(fileURLWithPath: "\(path)/bodies"))
            log.append(.sample(1, body: Data(repeating: 1, count: 40_000), mediaType: "image/png"))
            log.append(.sample(2))
            await log.flush()
            let entries = try RequestLog.Reader.read(path).entries
            #expect(entries.map { $0.response?.body.content } == [.omitted("not written"), .data(Data("hello".utf8))])
            withExtendedLifetime(log) {}
        }
    }

    @Test func recordingPausesAfterAFailure() async throws {
        try await withLogDirectory { path in
            var options = RequestLog.Options()
            options.pauseAfterFailure = .seconds(3_600)
            let log = try RequestLog(directory: path, options: options)
            await log.flush()
            try FileManager.default.removeItem(atPath: path)
            try Data().write(to: URL(fileURLWithPath: path))
            log.append(.sample(1))
            await log.flush()
            try FileManager.default.removeItem(atPath: path)
            // A body that stays in memory needs no disk.
            log.append(.sample(2))
            await log.flush()
            #expect(!FileManager.default.fileExists(atPath: path))
            withExtendedLifetime(log) {}
        }
    }

    @Test func damagedBodyFileIsRewritten() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            let body = Data(repeating: 1, count: 40_000)
            log.append(.sample(1, body: body, mediaType: "image/png"))
            await log.flush()
            guard case .file(let name)? = try RequestLog.Reader.read(path).entries.first?.response?.body.content else {
                Issue.record("the body is not in a file")
                return
            }
            try Data(count: 10).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
            log.append(.sample(2, body: body, mediaType: "image/png"))
            await log.flush()
            #expect(try contents("\(path)/\(name)") == body)
            withExtendedLifetime(log) {}
        }
    }

    // MARK: Segments

    @Test func oldSegmentIsFollowedByANewOne() async throws {
        try await withLogDirectory { path in
            await (try RequestLog(directory: path)).close()
            var options = RequestLog.Options()
            options.segmentAge = .zero
            let log = try RequestLog(directory: path, options: options)
            log.append(.sample(1))
            await log.close()
            #expect(try LogDirectory(path: path).segments().count > 1)
            #expect(try RequestLog.Reader.read(path).entries.count == 1)
        }
    }

    @Test func powerDurabilityWorksAcrossSegments() async throws {
        try await withLogDirectory { path in
            var options = RequestLog.Options()
            options.durability = .power(.milliseconds(1))
            options.segmentBytes = 4_000
            let log = try RequestLog(directory: path, options: options)
            for number in 0..<20 {
                log.append(.sample(Double(number), body: Data(repeating: 1, count: 20_000), mediaType: "image/png"))
            }
            await log.flush()
            #expect(try LogDirectory(path: path).segments().count > 3)
            #expect(try RequestLog.Reader.read(path).entries.count == 20)
            withExtendedLifetime(log) {}
        }
    }

    @Test func onlyCanonicalNumbersAreSegments() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            log.append(.sample(1))
            await log.close()
            let first = try contents(LogDirectory(path: path).segment(1))
            for name in ["1", "+5", "-3", "0000002", "2147483647", "9223372036854775807", "x"] {
                try first.write(to: URL(fileURLWithPath: "\(path)/\(name).jsonl"))
            }
            #expect(try LogDirectory(path: path).segments() == [1])
            let again = try RequestLog(directory: path)
            again.append(.sample(2))
            await again.close()
            #expect(try RequestLog.Reader.read(path).entries.count == 2)
        }
    }
}

extension RequestLog {
    /// Runs `body` while the writer's thread waits.
    func whileWriterWaits(_ body: (LogQueue) -> Void) {
        let (waits, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        session.queue.call {
            waits.signal()
            goesOn.wait()
        }
        waits.wait()
        body(session.queue)
        goesOn.signal()
    }
}

extension LogQueue {
    /// Adds failures, which are dropped last, until there is space for `room` jobs. One job is being written.
    func fill(leaving room: Int) {
        let draft = LogJob.ClosureDraft(redactor: Redactor()) { .sample(error: "timeout") }
        for number in 0..<1_023 - room {
            add(LogJob(exchange: 2_000_000 + number, work: .end(draft), bytes: 0, isFailure: true), mayBlock: false)
        }
    }
}
