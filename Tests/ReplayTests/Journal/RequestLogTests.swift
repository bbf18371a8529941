import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct RequestLogTests {
    @Test func appendedEntriesAreReadableAfterAFlush() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            log.append(.sample(2, url: "https://a.example/2"))
            log.append(.sample(1, url: "https://a.example/1"))
            await log.flush()
            let (entries, warnings) = try RequestLog.Reader.read(path)
            #expect(warnings == [])
            #expect(entries.map(\.request.url) == ["https://a.example/1", "https://a.example/2"])
            #expect(entries[0].response?.body.content == .data(Data("hello".utf8)))
            #expect(Set(entries.map(\.id)).count == 2)
            #expect(entries[0].timings.total == .milliseconds(6))
            withExtendedLifetime(log) {}
        }
    }

    @Test func filesAreAccessibleOnlyToTheOwner() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            log.append(.sample(body: Data(repeating: 7, count: 20_000), mediaType: "image/png"))
            await log.flush()
            for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
                var isDirectory = false
                isDirectory =
                    try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.type]
                    as? FileAttributeType == .typeDirectory
                #expect(try permissions("\(path)/\(name)") == (isDirectory ? 0o700 : 0o600), "\(name)")
            }
            #expect(try permissions(path) == 0o700)
            withExtendedLifetime(log) {}
        }
    }

    @Test func equalLongBodiesShareAFileNamedByItsDigest() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            let body = Data((0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            log.append(.sample(1, body: body, mediaType: "image/png"))
            log.append(.sample(2, body: body, mediaType: "image/png"))
            await log.flush()
            let digest = try SHA256Digest.hex(of: body)
            let name = "bodies/\(digest.prefix(2))/\(digest)"
            let (entries, _) = try RequestLog.Reader.read(path)
            #expect(entries.map(\.response?.body.content) == [.file(name), .file(name)])
            #expect(entries[0].response?.body.size == 40_000)
            #expect(try contents("\(path)/\(name)") == body)
            let files = try FileManager.default.subpathsOfDirectory(atPath: "\(path)/bodies")
            #expect(files.sorted() == [String(digest.prefix(2)), "\(digest.prefix(2))/\(digest)"])
            withExtendedLifetime(log) {}
        }
    }

    @Test(arguments: [16 << 10, (16 << 10) + 1])
    func bodiesUpToTheLimitAreInline(_ count: Int) async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            log.append(.sample(body: Data(repeating: 1, count: count), mediaType: "image/png"))
            await log.flush()
            let content = try RequestLog.Reader.read(path).entries[0].response?.body.content
            switch content {
            case .data(let data)?: #expect(data.count == 16 << 10 && count == data.count)
            case .file?: #expect(count > 16 << 10)
            default: Issue.record("\(String(describing: content))")
            }
            withExtendedLifetime(log) {}
        }
    }

    @Test(arguments: [99, 100, 101])
    func bodyBeyondTheLimitIsTruncated(_ limit: Int) async throws {
        try await withLogDirectory { path in
            var options = RequestLog.Options()
            options.maxBodyBytes = limit
            let log = try RequestLog(directory: path, options: options)
            log.append(.sample(body: Data(repeating: 1, count: 100), mediaType: "image/png"))
            await log.flush()
            let body = try #require(try RequestLog.Reader.read(path).entries[0].response?.body)
            #expect(body.content == .data(Data(repeating: 1, count: min(limit, 100))))
            #expect(body.isTruncated == (limit < 100))
            #expect(body.size == 100)
            withExtendedLifetime(log) {}
        }
    }

    @Test func twoLogsMayShareADirectory() async throws {
        try await withLogDirectory { path in
            let logs = [try RequestLog(directory: path), try RequestLog(directory: path)]
            for number in 0..<200 { logs[number % 2].append(.sample(Double(number))) }
            for log in logs { await log.flush() }
            let (entries, warnings) = try RequestLog.Reader.read(path)
            #expect(warnings == [])
            #expect(entries.map { Int($0.started.timeIntervalSince1970) } == Array(0..<200))
            withExtendedLifetime(logs) {}
        }
    }

    @Test func queuedEntriesAreWrittenWhenTheLogIsReleased() async throws {
        try await withLogDirectory { path in
            var log: RequestLog? = try RequestLog(directory: path)
            let queue = try #require(log).session.queue
            for number in 0..<100 { log?.append(.sample(Double(number))) }
            await log?.flush()
            log?.append(.sample(100))
            log = nil
            await withCheckedContinuation { continuation in queue.callAtEnd { continuation.resume() } }
            #expect(try RequestLog.Reader.read(path).entries.count == 101)
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).allSatisfy { !$0.hasSuffix(".live") })
        }
    }

    @Test func directoryWithOtherFilesIsRejected() async throws {
        try await withLogDirectory { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try Data().write(to: URL(fileURLWithPath: "\(path)/mine.txt"))
            let error = #expect(throws: NetworkError.self) { try RequestLog(directory: path) }
            #expect(error?.kind == .file)
            #expect(error?.message.contains("mine.txt") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["mine.txt"])
        }
    }

    @Test func logOfANewerFormatIsNotModified() async throws {
        try await withLogDirectory { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try Data(#"{"format":2}"#.utf8).write(to: URL(fileURLWithPath: "\(path)/meta.json"))
            let error = #expect(throws: NetworkError.self) { try RequestLog(directory: path) }
            #expect(error?.message.contains("format 2") == true)
            let (entries, warnings) = try RequestLog.Reader.read(path)
            #expect(entries == [])
            #expect(warnings.map(\.file) == ["\(path)/meta.json"])
        }
    }

    @Test func fullSegmentIsFollowedByANewOne() async throws {
        try await withLogDirectory { path in
            var options = RequestLog.Options()
            options.segmentBytes = 4_000
            let log = try RequestLog(directory: path, options: options)
            for number in 0..<40 { log.append(.sample(Double(number))) }
            await log.flush()
            let segments = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".jsonl") }
            #expect(segments.count > 3)
            #expect(try RequestLog.Reader.read(path).entries.count == 40)
            withExtendedLifetime(log) {}
        }
    }

    @Test func removedLogIsCreatedAgain() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            log.append(.sample(1))
            await log.flush()
            try FileManager.default.removeItem(atPath: path)
            log.append(.sample(2))
            await log.flush()
            #expect(try RequestLog.Reader.read(path).entries.map(\.started.timeIntervalSince1970) == [2])
            withExtendedLifetime(log) {}
        }
    }
}
