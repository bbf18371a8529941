import BeagleNetHTTP
import Foundation

@testable import BeagleNetReplay

extension FuzzTarget {
    /// The first byte is the size of the pieces in which a log is read, which doesn't change the result. `\f` ends a
    /// segment. For any content, each line has the right offset and is either a record or reported as invalid, and the
    /// record that is appended after it is found.
    static func fuzzLog(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else { return }
        let segments = bytes.dropFirst().split(separator: 0x0C, maxSplits: 3, omittingEmptySubsequences: false)
        do {
            let directory = try LogScratch.directory(of: segments.map { Data($0) })
            for (index, segment) in segments.enumerated() {
                try check(directory.segment(index + 1), Array(segment), size: Int(first) + 1)
            }
            let index = try LogIndex(directory, includesInFlight: true)
            let entries = try RequestLog.Reader(directory: directory.path).entries(includesInFlight: true)
            precondition(entries.count == index.rows.count, "the rows of a log differ when they are read again")
            precondition(entries.contains { $0.id == LogScratch.id }, "the last record is missing")
            for entry in entries { write(entry) }
        } catch {
            preconditionFailure("a log cannot be read: \(error)")
        }
    }

    private static func check(_ path: String, _ bytes: [UInt8], size: Int) throws(NetworkError) {
        let lines = try read(LogLines(path: path))
        let again = try read(LogLines(path: path, pieceBytes: size))
        precondition(again == lines, "lines depend on the pieces in which they are read")
        let whole = bytes + (try contents(path).dropFirst(bytes.count))
        var covered = 0
        for line in lines {
            let end = Int(line.offset) + line.bytes.count
            precondition(Array(whole[Int(line.offset)..<end]) == line.bytes, "a line has the wrong offset")
            precondition(whole[covered..<Int(line.offset)].allSatisfy { $0 == 0x0A }, "bytes were skipped")
            covered = end
            let alone = try read(LogLines(path: path, from: line.offset, pieceBytes: 4_096)).first
            precondition(alone == line, "a line differs when it is the first that is read")
            check(line.bytes)
        }
    }

    /// A record doesn't change when it is written again.
    private static func check(_ line: [UInt8]) {
        guard case .success(let record) = LogRecord.read(line) else { return }
        switch record {
        case .start(let id, let node), .end(let id, let node):
            precondition(LogEntry(node).id == id, "an entry has another id than its record")
        case .message(_, let node, _):
            var output = JSONOutput()
            LogEntry.Message(node).write(to: &output)
            precondition((try? ParsedJSON(output.bytes)) != nil, "a written message is not JSON")
        case .losses, .other: break
        }
    }

    private static func write(_ entry: LogEntry) {
        var output = JSONOutput()
        entry.write(to: &output)
        precondition((try? ParsedJSON(output.bytes)) != nil, "a written entry is not JSON")
    }

    private struct Line: Equatable {
        let offset: Int64
        let bytes: [UInt8]
    }

    /// Returns the complete lines. Every record ends with a line feed.
    private static func read(_ lines: LogLines) throws(NetworkError) -> [Line] {
        var lines = lines
        var read: [Line] = []
        while let line = try lines.next() {
            guard case .whole(let bytes) = line.content else { preconditionFailure("a line has no end") }
            read.append(Line(offset: line.offset, bytes: bytes))
        }
        return read
    }

    private static func contents(_ path: String) throws(NetworkError) -> [UInt8] {
        let file = try OpenFile(reading: path)
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        let count = try bytes.withUnsafeMutableBufferPointer { (room) throws(NetworkError) in
            try file.read(into: UnsafeMutableRawBufferPointer(room), at: 0)
        }
        precondition(count == bytes.count, "a file was cut")
        return bytes
    }
}

/// The place of the generated logs.
private enum LogScratch {
    static let id = "last-1"

    /// The folder of this process, which is reused.
    private static let path = FileManager.default.temporaryDirectory.appending(path: "beagle-fuzz-\(getpid())").path

    /// The bytes that a log appends.
    private static let record: [UInt8] = {
        let request = LogEntry.Request(method: "GET", url: "http://a.example/")
        let entry = LogEntry(id: id, started: Date(timeIntervalSince1970: 1), request: request)
        var output = JSONOutput()
        output.object { output in
            output.member("k", "end")
            output.name("entry")
            entry.write(to: &output)
        }
        return [0x0A] + output.bytes + [0x0A]
    }()

    /// Writes a log of these segments, each with a record appended.
    static func directory(of segments: [Data]) throws -> LogDirectory {
        let directory = LogDirectory(path: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for number in 1...4 {
            guard number <= segments.count else {
                unlink(directory.segment(number))
                continue
            }
            let file = try OpenFile(replacing: directory.segment(number))
            try Array(segments[number - 1] + record).withRawBytes { bytes throws(NetworkError) in
                try file.write(bytes)
            }
        }
        return directory
    }
}
