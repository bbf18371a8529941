import BeagleNetHTTP
import TestPrograms
import Testing

@testable import BeagleNetReplay

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct LogLimitsTests {
    private static let bodyBytes = 20_000

    /// Makes a log of segments with one entry and one body each. The last segment records that the log was closed.
    private func makeLog(_ path: String, entries: Int) async throws {
        var options = RequestLog.Options()
        options.segmentBytes = Int64(Self.bodyBytes)
        let log = try RequestLog(directory: path, options: options)
        for number in 0..<entries {
            let body = Data(repeating: UInt8(number), count: Self.bodyBytes)
            log.append(.sample(Double(number), body: body, mediaType: "image/png"))
        }
        await log.close()
    }

    /// Sets the modification date of files below a directory to so many seconds ago.
    private func age(_ path: String, _ seconds: Double, where isMeant: (String) -> Bool) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) where isMeant(name) {
            let attributes: [FileAttributeKey: Any] = [.modificationDate: Date(timeIntervalSinceNow: -seconds)]
            try FileManager.default.setAttributes(attributes, ofItemAtPath: "\(path)/\(name)")
        }
    }

    private func isSegment(_ name: String) -> Bool { name.hasSuffix(".jsonl") }
    private func isBody(_ name: String) -> Bool { name.hasPrefix("bodies/") && name.utf8.count > 40 }

    private func bodies(_ path: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).filter(isBody)
    }

    private func limits(_ path: String, maxBytes: Int64) -> LogLimits {
        var options = RequestLog.Options()
        options.maxBytes = maxBytes
        return LogLimits(LogDirectory(path: path), options)
    }

    @Test func recentBodiesDoNotCauseSegmentsToBeRemoved() async throws {
        try await withLogDirectory { path in
            try await makeLog(path, entries: 10)
            try age(path, 30, where: isSegment)
            // The machine may have been asleep between a body and its record.
            try age(path, 3_000, where: isBody)
            var limits = limits(path, maxBytes: 120_000)
            #expect(try limits.clear())
            #expect(try RequestLog.Reader.read(path).entries.map(\.started.timeIntervalSince1970) == [5, 6, 7, 8, 9])
            #expect(try bodies(path).count == 10)
            try age(path, 7_200, where: isBody)
            #expect(try limits.clear())
            let entries = try RequestLog.Reader.read(path).entries
            #expect(entries.map(\.started.timeIntervalSince1970) == [5, 6, 7, 8, 9])
            let named = entries.compactMap { entry -> String? in
                if case .file(let name)? = entry.response?.body.content { return name }
                return nil
            }
            #expect(try bodies(path).sorted() == named.sorted())
        }
    }

    @Test func expiredSegmentsAreRemoved() async throws {
        try await withLogDirectory { path in
            try await makeLog(path, entries: 4)
            try age(path, 7_200) { isBody($0) || ["000001.jsonl", "000002.jsonl"].contains($0) }
            var options = RequestLog.Options()
            options.maxAge = .seconds(100)
            var limits = LogLimits(LogDirectory(path: path), options)
            #expect(try limits.clear())
            let segments = try LogDirectory(path: path).segments()
            #expect(segments.first == 3)
            #expect(try bodies(path).count == RequestLog.Reader.read(path).entries.count)
        }
    }

    @Test("a file that can't be removed is reported, and doesn't keep the others")
    func oneFileThatCannotBeRemoved() async throws {
        try await withLogDirectory { path in
            try await makeLog(path, entries: 4)
            try age(path, 7_200) { isBody($0) || isSegment($0) && !$0.hasSuffix("4.jsonl") }
            let first = LogDirectory(path: path).segment(1)
            // Only this attribute keeps a file from root; other users, and some file systems, can't set it.
            guard try await Program.run("/usr/bin/chattr", ["+i", first]).ending == .exit(0) else { return }
            var options = RequestLog.Options()
            options.maxAge = .seconds(100)
            var limits = LogLimits(LogDirectory(path: path), options)
            let error = #expect(throws: NetworkError.self) { try limits.clear() }
            #expect(error?.message.contains("cannot remove") == true)
            let segments = try LogDirectory(path: path).segments()
            #expect(segments.first == 1 && !segments.contains(2) && !segments.contains(3))
            _ = try await Program.run("/usr/bin/chattr", ["-i", first])
            #expect(try limits.clear())
            #expect(try LogDirectory(path: path).segments().contains(1) == false)
        }
    }

    @Test func recentlyWrittenSegmentIsKept() async throws {
        try await withLogDirectory { path in
            try await makeLog(path, entries: 3)
            var limits = limits(path, maxBytes: 1)
            #expect(try limits.clear())
            #expect(try RequestLog.Reader.read(path).entries.count == 3)
        }
    }

    @Test func bodyReusedDuringTheCleanupIsKept() async throws {
        try await withLogDirectory { path in
            try await makeLog(path, entries: 1)
            let log = try RequestLog(directory: path)
            for number in 0..<100 { log.append(.sample(Double(number))) }
            await log.close()
            let name = try #require(try bodies(path).first)
            // As if the segment that names it had been removed.
            try FileManager.default.removeItem(atPath: LogDirectory(path: path).segment(1))
            try age(path, 7_200, where: isBody)
            var limits = limits(path, maxBytes: 1)
            var looks = 0
            let isDone = try limits.clear {
                looks += 1
                do { try age(path, 0, where: isBody) } catch { Issue.record(error) }
                return false
            }
            #expect(isDone)
            #expect(looks > 0)
            #expect(try bodies(path) == [name])
            try age(path, 7_200, where: isBody)
            #expect(try limits.clear())
            #expect(try bodies(path) == [])
        }
    }

    @Test func cleanupPausesForQueuedJobsAndResumes() async throws {
        try await withLogDirectory { path in
            try await makeLog(path, entries: 1)
            let log = try RequestLog(directory: path)
            for number in 0..<300 { log.append(.sample(Double(number))) }
            await log.close()
            try age(path, 30, where: isSegment)
            var limits = limits(path, maxBytes: 1)
            var calls = 1
            while try !limits.clear(unless: { true }) { calls += 1 }
            #expect((4...6).contains(calls), "\(calls)")
            #expect(try LogDirectory(path: path).segments().count == 1)
        }
    }

    /// A segment without bodies is removed without being read.
    @Test func logWithoutBodiesIsClearedWithoutReadingIt() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            for number in 0..<100 { log.append(.sample(Double(number))) }
            await log.close()
            let segments = (1...2).map { LogDirectory(path: path).segment($0) }
            try FileManager.default.copyItem(atPath: segments[0], toPath: segments[1])
            try age(path, 30, where: isSegment)
            var limits = limits(path, maxBytes: 1)
            #expect(try limits.clear(unless: { true }))
            #expect(limits.known.isEmpty)
            #expect(try LogDirectory(path: path).segments() == [2])
        }
    }

    @Test func segmentRemovedByAnotherProcessIsSkipped() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            log.append(.sample(body: Data(count: Self.bodyBytes), mediaType: "image/png"))
            for number in 0..<100 { log.append(.sample(Double(number))) }
            await log.close()
            let segments = (1...3).map { LogDirectory(path: path).segment($0) }
            for copy in segments.dropFirst() { try FileManager.default.copyItem(atPath: segments[0], toPath: copy) }
            var limits = limits(path, maxBytes: 1)
            let isDone = try limits.clear {
                do {
                    let isThere = FileManager.default.fileExists(atPath: segments[1])
                    if isThere { try FileManager.default.removeItem(atPath: segments[1]) }
                } catch {
                    Issue.record(error)
                }
                return false
            }
            #expect(isDone)
            #expect(try LogDirectory(path: path).segments() == [1, 3])
        }
    }

    /// Places at which a log from another source may have a link that leads out of it.
    @Test(arguments: ["bodies", "bodies/zz", "bodies/ab/link", "none"])
    func filesOutsideTheLogAreNotRemoved(_ link: String) async throws {
        try await withLogDirectory { path in
            let outside = "\(path).outside"
            try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
            try Data("precious".utf8).write(to: URL(fileURLWithPath: "\(outside)/thesis.txt"))
            try age(outside, 90_000) { _ in true }
            try await makeLog(path, entries: 3)
            if link == "bodies" { try FileManager.default.removeItem(atPath: "\(path)/bodies") }
            if link != "none" {
                let folder = URL(fileURLWithPath: "\(path)/\(link)").deletingLastPathComponent()
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try FileManager.default.createSymbolicLink(atPath: "\(path)/\(link)", withDestinationPath: outside)
            }
            try age(path, 20 * 86_400) { isSegment($0) || isBody($0) }
            var limits = limits(path, maxBytes: 1)
            #expect(try limits.clear())
            #expect(try LogDirectory(path: path).segments().count == 1)
            #expect(FileManager.default.fileExists(atPath: "\(outside)/thesis.txt"))
        }
    }

    /// A body is written into the log or not at all.
    @Test func bodyIsNotWrittenThroughALink() async throws {
        try await withLogDirectory { path in
            let outside = "\(path).outside"
            try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
            try await makeLog(path, entries: 1)
            try FileManager.default.removeItem(atPath: "\(path)/bodies")
            try FileManager.default.createSymbolicLink(atPath: "\(path)/bodies", withDestinationPath: outside)
            try await makeLog(path, entries: 2)
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside).isEmpty)
            let contents = try RequestLog.Reader.read(path).entries.compactMap(\.response?.body.content)
            #expect(contents.count == 3 && contents.suffix(2).allSatisfy { $0 == .omitted("not written") })
        }
    }

    /// A sparse file of 4 TiB.
    @Test func holeInASegmentIsSkipped() async throws {
        try await withLogDirectory { path in
            try await makeLog(path, entries: 1)
            let segment = LogDirectory(path: path).segment(1)
            try #require(truncate(segment, 1 << 42) == 0)
            let (entries, warnings) = try RequestLog.Reader.read(path)
            #expect(entries.count == 1)
            #expect(warnings.count == 1)
            try await makeLog(path, entries: 1)
            #expect(try RequestLog.Reader.read(path).entries.count == 2)
        }
    }

    @Test func segmentIsNotReadThroughALink() async throws {
        try await withLogDirectory { path in
            try await makeLog(path, entries: 1)
            try FileManager.default.moveItem(atPath: LogDirectory(path: path).segment(1), toPath: "\(path).jsonl")
            try FileManager.default.createSymbolicLink(
                atPath: LogDirectory(path: path).segment(1),
                withDestinationPath: "\(path).jsonl"
            )
            let (entries, warnings) = try RequestLog.Reader.read(path)
            #expect(entries.isEmpty)
            #expect(warnings.contains { $0.reason.contains("links are not followed") })
        }
    }

    @Test func partFilesAreClearedWithoutReadingSegments() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: "\(directory)/bodies", withIntermediateDirectories: true)
        let begin = Timestamp.text(of: Date(timeIntervalSinceNow: -10_000))
        let lines = """

            {"k":"open","v":1,"time":"\(begin)"}

            {"k":"start","entry":{"_beagle":{"id":"s-1"}}}

            """
        try Data(lines.utf8).write(to: URL(fileURLWithPath: LogDirectory(path: directory).segment(1)))
        let declared = LogDirectory(path: directory).part(of: "s-1", .response)
        let undeclared = LogDirectory(path: directory).part(of: "r-9", .response)
        try Data("half".utf8).write(to: URL(fileURLWithPath: "\(directory)/\(declared)"))
        try age(directory, 7_200) { $0 == declared }
        var limits = LogLimits(LogDirectory(path: directory), RequestLog.Options())
        #expect(try limits.clear())
        #expect(limits.known.isEmpty)
        // Older than all segments of the log.
        try Data("half".utf8).write(to: URL(fileURLWithPath: "\(directory)/\(undeclared)"))
        try age(directory, 20_000) { $0 == undeclared }
        #expect(try limits.clear())
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(directory)/bodies") == ["s-1.response.part"])
    }
}
