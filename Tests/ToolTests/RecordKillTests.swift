import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetReplay

extension KillTests {
    /// The number of concurrent processes.
    private static let writers = 4
    /// The numbers of each process's requests start at a multiple of this.
    private static let numbers = 1_000_000

    @Test func acknowledgedRecordsSurviveAndStartedRequestsAreListed() async throws {
        try await withDirectory { directory in
            let path = "\(directory)/a.bglog"
            var (started, ended): (Set<Int>, Set<Int>) = ([], [])
            var torn = TornLines(of: path)
            var lost = 0
            for round in 0..<Self.kills {
                let first = round * Self.writers
                let processes = try (first..<first + Self.writers).map { writer in
                    try BeagleProcess(["write", path, "\(writer * Self.numbers)"], program: "RecordProbe")
                }
                for process in processes { _ = await process.line() }
                for process in processes.shuffled() {
                    try await Task.sleep(for: .microseconds(.random(in: 0..<10_000)))
                    process.kill()
                }
                for process in processes {
                    let outcome = await process.outcome()
                    #expect(outcome.exit == -1, "\(outcome.errors)")
                    Self.read(outcome.text, &started, &ended)
                }
                let lines = try torn.next()
                #expect(lines.count <= Self.writers, "more records were lost than processes killed: \(lines)")
                // Some lines are too short to tell which process wrote them.
                let owners = lines.compactMap(Self.number).map { $0 / Self.numbers }
                #expect(Set(owners).count == owners.count, "one process lost two records: \(lines)")
                lost += lines.count
            }
            let entries = try RequestLog.Reader(directory: path).entries()
            #expect(entries.skipped == lost)
            var (whole, interrupted): (Set<Int>, Set<Int>) = ([], [])
            for entry in entries {
                let number = try #require(Int(entry.request.url.split(separator: "/").last ?? ""))
                if entry.isInterrupted {
                    interrupted.insert(number)
                } else {
                    whole.insert(number)
                    #expect(try ProbeBody.of(entry, in: path) == ProbeBody.data(number), "\(number)")
                }
            }
            #expect(ended.subtracting(whole) == [], "acknowledged but missing")
            #expect(started.subtracting(whole).subtracting(interrupted) == [], "started but not listed")
            print(
                "log killed \(Self.kills * Self.writers) times: \(ended.count) acknowledged, \(whole.count) whole,",
                "\(interrupted.count) interrupted, \(lost) records torn"
            )
        }
    }

    /// Reads the output of a process. An unterminated last line is ignored.
    private static func read(_ text: String, _ started: inout Set<Int>, _ ended: inout Set<Int>) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int(words[1]) else { continue }
            switch words[0] {
            case "start": started.insert(number)
            case "end": ended.insert(number)
            default: break
            }
        }
    }

    /// The number of the request in an incomplete record.
    private static func number(in line: String) -> Int? {
        line.firstMatch(of: /a\.example\/(\d+)"/).flatMap { Int($0.output.1) }
    }
}

/// Lines of a log that are not records, each returned once.
private struct TornLines {
    private let directory: LogDirectory
    /// The end of the part of each segment that was read.
    private var offsets: [Int: Int64] = [:]

    init(of path: String) {
        directory = LogDirectory(path: path)
    }

    /// The lines since the last call.
    mutating func next() throws -> [String] {
        var found: [String] = []
        for segment in try directory.segments() {
            var lines = LogLines(path: directory.segment(segment), from: offsets[segment] ?? 0)
            while let line = try lines.next() {
                switch line.content {
                case .whole(let bytes):
                    if case .failure = LogRecord.read(bytes) { found.append(String(decoding: bytes, as: UTF8.self)) }
                case .unfinished: found.append(try rest(of: segment, from: line.offset))
                case .tooLong: found.append("too long")
                }
            }
            offsets[segment] = lines.offset
        }
        return found
    }

    private func rest(of segment: Int, from offset: Int64) throws -> String {
        let file = try FileHandle(forReadingFrom: URL(filePath: directory.segment(segment)))
        try file.seek(toOffset: UInt64(offset))
        return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }
}

/// The response bodies that RecordProbe receives.
private enum ProbeBody {
    /// The response to the request with this number.
    static func data(_ number: Int) -> Data {
        let bytes = withUnsafeBytes(of: UInt64(number).littleEndian) { Array($0) }
        return Data(Array(repeatElement(bytes, count: number % 3 == 0 ? 5_000 : 10)).joined())
    }

    /// The body in the log; `nil` if the log states that it was not written.
    static func of(_ entry: LogEntry, in path: String) throws -> Data? {
        let body = try #require(entry.response?.body)
        if body.content == .omitted("not written") { return nil }
        return try Recording([], directory: path).data(of: body)
    }
}

struct RecordFaultTests {
    @Test func fileSizeLimitFailsNoRequestAndIsReportedOnce() async throws {
        try await withDirectory { directory in
            let path = "\(directory)/a.bglog"
            let run = try await BeagleProcess(["limit", path], program: "RecordProbe").outcome()
            #expect(run.exit == 0, "\(run.text)")
            #expect(run.lines == ["warned 1"])
            let read = try RequestLog.Reader(directory: path).entries()
            #expect(read.warnings.contains { $0.reason.hasSuffix("because there was no room") }, "\(read.warnings)")
            let entries = Array(read)
            #expect(entries.count > 1 && entries.count < 201)
            #expect(entries.last?.request.url == "http://a.example/last")
            let text = try String(contentsOfFile: "\(path)/000001.jsonl", encoding: .utf8)
            #expect(text.contains("\"lostRecords\":"))
        }
    }

    #if canImport(Glibc) && !SANITIZE_THREAD
        /// A full disk and one that has become read-only, for records, bodies and the log's metadata.
        @Test(arguments: [".jsonl", "/bodies/", "meta.json"], [ENOSPC, EROFS])
        func diskFaultFailsNoRequestAndIsReportedOnce(_ place: String, _ code: Int32) async throws {
            try await withDirectory { directory in
                let path = "\(directory)/a.bglog"
                let run = try await BeagleProcess(["fault", path, place, "\(code)"], program: "RecordProbe").outcome()
                #expect(run.exit == 0, "\(run.text) \(run.errors)")
                #expect(run.lines == ["warned 1"])
                let bodies = try Self.bodies(path)
                let (before, during, after) = (0..<10, 10..<110, 110..<120)
                #expect(after.allSatisfy { bodies[$0] == .some(.some(ProbeBody.data($0))) })
                switch place {
                case ".jsonl":
                    #expect(before.allSatisfy { bodies[$0] == .some(.some(ProbeBody.data($0))) })
                    #expect(during.allSatisfy { bodies[$0] == nil })
                case "/bodies/":
                    // A short body is in its record.
                    for number in 0..<120 {
                        let isLost = during.contains(number) && number.isMultiple(of: 3)
                        #expect(bodies[number] == .some(isLost ? nil : ProbeBody.data(number)), "\(number)")
                    }
                default: #expect(Set(bodies.keys) == Set(after))
                }
            }
        }

        /// If mounting isn't allowed on this machine, no disk can be filled. The system's error is simulated then, as
        /// above.
        @Test func fullDiskFailsNoRequestAndIsReportedOnce() async throws {
            try await withDirectory { directory in
                let (mount, path) = ("\(directory)/disk", "\(directory)/a.bglog")
                try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: false)
                let script = """
                    unshare -rm true 2>/dev/null || exec "$2" fault "$3" .jsonl 28
                    exec unshare -rm sh -c '
                        mount -t tmpfs -o size=1m none "$1" && "$2" full "$1/a.bglog" "$1/ballast" &&
                            cp -r "$1/a.bglog" "$3"' sh "$@"
                    """
                let probe = BeagleProcess.executable("RecordProbe").path
                let run = try await BeagleProcess(["-c", script, "sh", mount, probe, path], program: "/bin/sh")
                    .outcome()
                #expect(run.exit == 0, "\(run.text) \(run.errors)")
                #expect(run.lines == ["warned 1"])
                let bodies = try Self.bodies(path)
                for number in Array(0..<10) + Array(110..<120) {
                    #expect(bodies[number] == .some(.some(ProbeBody.data(number))), "\(number)")
                }
                #expect(bodies.count < 120)
                #expect(bodies.allSatisfy { $1 == nil || $1 == ProbeBody.data($0) })
                let text = try String(contentsOfFile: "\(path)/000001.jsonl", encoding: .utf8)
                #expect(text.contains("\"lostRecords\":"))
            }
        }
    #endif

    /// The bodies of a log by the numbers of their requests; `nil` if the log states that one was not written.
    private static func bodies(_ path: String) throws -> [Int: Data?] {
        var bodies: [Int: Data?] = [:]
        for entry in try RequestLog.Reader(directory: path).entries() where !entry.isInterrupted {
            let number = try #require(Int(entry.request.url.split(separator: "/").last ?? ""))
            bodies[number] = .some(try ProbeBody.of(entry, in: path))
        }
        return bodies
    }

    @Test func childAndParentWriteIntoOneLog() async throws {
        try await withDirectory { directory in
            let path = "\(directory)/a.bglog"
            let run = try await BeagleProcess(["fork", path], program: "RecordProbe").outcome()
            #expect(run.exit == 0, "\(run.text) \(run.errors)")
            let entries = try RequestLog.Reader(directory: path).entries()
            #expect(entries.warnings == [])
            #expect(entries.map { $0.request.url.split(separator: "/").last } == ["parent", "child", "again"])
            let processes = Set(entries.map { $0.id.prefix(36) })
            #expect(processes.count == 2)
        }
    }

    @Test func unwritableDirectoryIsAnErrorWithAdvice() throws {
        let error = #expect(throws: NetworkError.self) { try RequestLog(directory: "/proc/a.bglog") }
        #expect(error?.kind == .file)
        #expect(error?.advice?.contains("can write") == true)
    }
}
