import BeagleNetHTTP
import BeagleNetTesting
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct LogReaderTests {
    /// Runs `body` with the path of a log with these segments.
    private func withLog<R>(_ segments: [Data], _ body: (_ path: String) async throws -> R) async throws -> R {
        try await withLogDirectory { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            for (index, segment) in segments.enumerated() {
                try segment.write(to: URL(fileURLWithPath: LogDirectory(path: path).segment(index + 1)))
            }
            return try await body(path)
        }
    }

    private func record(_ kind: String, id: String, at second: Double = 1) -> Data {
        var entry = LogEntry.sample(second)
        entry.id = id
        if kind == "start" { entry.response = nil }
        var output = JSONOutput()
        output.object { output in
            output.member("k", kind)
            output.name("entry")
            entry.write(to: &output)
        }
        return Data("\n".utf8 + output.bytes + "\n".utf8)
    }

    private func message(_ text: String, id: String) -> Data {
        var output = JSONOutput()
        output.object { output in
            output.member("k", "message")
            output.member("id", id)
            output.name("message")
            LogEntry.Message(.receive, at: Date(timeIntervalSince1970: 3), Data(text.utf8)).write(to: &output)
        }
        return Data("\n".utf8 + output.bytes + "\n".utf8)
    }

    @Test func invalidRecordsAreSkippedAndReportedWithTheirOffset() async throws {
        let (first, second) = (record("end", id: "s-1", at: 1), record("end", id: "s-2", at: 2))
        let faults: [(Data, String)] = [
            (first.dropLast(40), "truncated"), (Data(repeating: 0, count: 5_000), "zeros"),
            (Data("{\"k\":\"later\"}".utf8), "unknown kind later"), (Data("[]".utf8), "not a record"),
            (Data("\u{FEFF}x".utf8), "truncated"), (Data("{\"k\":\"end\"}".utf8), "without an entry"),
            (Data("{\"k\":\"message\",\"id\":\"s-1\"}".utf8), "without a message"),
            (Data("{\"k\":\"open\",\"v\":2}".utf8), "format 2"),
        ]
        for (fault, reason) in faults {
            // A torn record is followed only by the line feed of the next record.
            try await withLog([first + Data("\n".utf8) + fault + second]) { path in
                let (entries, warnings) = try RequestLog.Reader.read(path)
                #expect(entries.map(\.id) == ["s-1", "s-2"], "\(reason)")
                try #require(warnings.count == 1)
                #expect(warnings[0].reason.contains(reason), "\(warnings[0])")
                // The offset is after the record's own leading line feed.
                let isFramed = fault.first == UInt8(ascii: "\n")
                #expect(warnings[0].offset == first.count + (isFramed ? 2 : 1))
                #expect(warnings[0].file == LogDirectory(path: path).segment(1))
            }
        }
    }

    private static let lossesAreReportedArguments: [(String, String)] = [
        (#""lostRecords":3,"lostBodies":1"#, "missing before this record: 3 records and 1 body"),
        (#""lostRecords":1,"lostBodies":0"#, "missing before this record: 1 record"),
        (#""lostRecords":0,"lostBodies":2"#, "missing before this record: 2 bodies"),
    ]

    @Test(arguments: Self.lossesAreReportedArguments)
    func lossesAreReported(_ members: String, _ words: String) async throws {
        let note = #"{"k":"note","time":"2026-11-22T08:15:30Z","text":"there was no room for everything",\#(members)}"#
        try await withLog([record("end", id: "s-1") + Data("\n\(note)\n".utf8)]) { path in
            let entries = try RequestLog.Reader(directory: path).entries()
            #expect(entries.warnings.map(\.offset) == [record("end", id: "s-1").count + 1])
            #expect(entries.warnings.first?.reason.hasPrefix(words) == true, "\(entries.warnings)")
            #expect(entries.warnings.first?.severity == .error)
            // Lost records don't count as skipped.
            #expect(entries.skipped == 0)
            #expect(try Recording(contentsOf: path).warnings == entries.warnings)
        }
    }

    @Test func truncatedRecordDoesNotAffectOthers() async throws {
        let (first, second, third) = (
            record("end", id: "s-1", at: 1), record("end", id: "s-2", at: 2), record("end", id: "s-3", at: 3)
        )
        for count in stride(from: 0, to: second.count, by: 17) {
            try await withLog([first + second.prefix(count) + third]) { path in
                let entries = try RequestLog.Reader.read(path).entries
                #expect(entries.map(\.id) == ["s-1", "s-3"], "\(count)")
            }
        }
    }

    @Test func unterminatedLastLineIsReported() async throws {
        let (first, second) = (record("end", id: "s-1"), record("end", id: "s-2"))
        try await withLog([first + second.dropLast()]) { path in
            let (entries, warnings) = try RequestLog.Reader.read(path)
            #expect(entries.map(\.id) == ["s-1"])
            #expect(warnings.map(\.offset) == [first.count + 1])
        }
    }

    @Test func unfinishedExchangeIsInterruptedAndHasItsMessages() async throws {
        let log =
            record("start", id: "s-1", at: 2) + message("a", id: "s-1") + record("end", id: "s-2", at: 1)
            + message("b", id: "s-1")
        try await withLog([log]) { path in
            try FileManager.default.createDirectory(atPath: "\(path)/bodies", withIntermediateDirectories: false)
            let entries = try RequestLog.Reader.read(path).entries
            #expect(entries.map(\.id) == ["s-2", "s-1"])
            #expect(entries.map(\.isInterrupted) == [false, true])
            #expect(entries[1].messages.map(\.data) == [Data("a".utf8), Data("b".utf8)])
            #expect(entries[1].response == nil)
            #expect(entries[1].error == "interrupted")
        }
    }

    @Test func exchangeAcrossSegmentsIsOneEntry() async throws {
        let first = record("start", id: "s-1") + message("a", id: "s-1")
        try await withLog([first, message("b", id: "s-1") + record("end", id: "s-1")]) { path in
            let entries = try RequestLog.Reader.read(path).entries
            #expect(entries.map(\.isInterrupted) == [false])
            #expect(entries[0].messages.map(\.data) == [Data("a".utf8), Data("b".utf8)])
        }
    }

    @Test func inFlightExchangesAreIncludedOnRequest() async throws {
        try await withLog([record("start", id: "s-t-1")]) { path in
            let live = LogDirectory(path: path).live("s-t")
            let held = try OpenFile.locked(live)
            #expect(try RequestLog.Reader.read(path).entries == [])
            #expect(try RequestLog.Reader.read(path, includesInFlight: true).entries.map(\.id) == ["s-t-1"])
            withExtendedLifetime(held) {}
        }
    }

    @Test func linesLongerThanTheReadBufferAreRead() async throws {
        var entry = LogEntry.sample(body: Data(repeating: 0x61, count: 700_000))
        entry.id = "s-1"
        var output = JSONOutput()
        output.object { output in
            output.member("k", "end")
            output.name("entry")
            entry.write(to: &output)
        }
        try await withLog([Data("\n".utf8 + output.bytes + "\n".utf8) + record("end", id: "s-2", at: 9)]) { path in
            let entries = try RequestLog.Reader.read(path).entries
            #expect(entries.map(\.id) == ["s-1", "s-2"])
            #expect(entries[0].response?.body.size == 700_000)
        }
    }

    @Test func missingLogIsAnError() async throws {
        try await withLogDirectory { path in
            let error = #expect(throws: NetworkError.self) { try RequestLog.Reader(directory: path) }
            #expect(error?.message.hasPrefix("the log ") == true && error?.message.hasSuffix(" does not exist") == true)
            #expect(error?.kind == .file)
        }
    }

    @Test func followingALogYieldsNewEntries() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            log.append(.sample(1))
            await log.flush()
            let clock = ManualClock()
            var entries = try RequestLog.Reader(directory: path).following(clock: clock).makeAsyncIterator()
            #expect(try await entries.next()?.started.timeIntervalSince1970 == 1)
            async let next = entries.next()
            await clock.waitForSleepers(1)
            log.append(.sample(2))
            await log.flush()
            clock.advance(by: .milliseconds(200))
            #expect(try await next?.started.timeIntervalSince1970 == 2)
            withExtendedLifetime(log) {}
        }
    }
}
