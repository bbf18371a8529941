import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The segment at whose end a log is written, by as many processes as there are.
struct Segment {
    let number: Int
    private let file: OpenFile
    /// When its first record was written.
    private let begun: Date
    private let next: String
    /// Bytes in it, as far as we know.
    private var size: Int64 = 0
    /// Bytes in bodies that records of ours in it refer to.
    var bodyBytes: Int64 = 0
    private var lastLook: ContinuousClock.Instant?
    /// What is to be written.
    private(set) var batch = RecordBatch()

    /// Opens the last segment that there is, or makes the first.
    init(last directory: LogDirectory) throws(NetworkError) {
        try self.init(directory, max(1, try directory.segments().last ?? 1))
    }

    /// Opens a segment, or makes it.
    init(_ directory: LogDirectory, _ number: Int) throws(NetworkError) {
        self.number = number
        file = try OpenFile(appending: directory.segment(number))
        next = directory.segment(number + 1)
        begun = Self.begin(of: file) ?? Date()
    }

    /// Takes a record, to be written with others.
    mutating func append(_ record: UnsafeBufferPointer<UInt8>) {
        let before = batch.bytes.count
        batch.append(record)
        size += Int64(batch.bytes.count - before)
    }

    /// Writes what was taken in one call, so that all stays in one piece whatever others write meanwhile.
    mutating func flush() throws(NetworkError) {
        // What was torn is written again whole.
        for _ in 0..<3 where batch.count > 0 {
            let written = try batch.bytes.withUnsafeBufferPointer { (bytes) throws(NetworkError) in
                try file.writeOnce(UnsafeRawBufferPointer(bytes))
            }
            batch.drop(written: written)
        }
        if batch.count > 0 { throw NetworkError(.file, during: .file, "only part of a record was written") }
    }

    /// Whether what comes next belongs into another segment: this one is full or old, another process has begun the next, or
    /// somebody has removed it.
    ///
    /// - Parameter looks: whether to look at what others may have done.
    mutating func isOver(_ options: RequestLog.Options, looks: Bool) throws(NetworkError) -> Bool {
        if looks {
            guard let size = try file.sizeWhileLinked() else { return true }
            self.size = size + Int64(batch.bytes.count)
        }
        if size + bodyBytes >= options.segmentBytes { return true }
        guard looks else { return false }
        let now = ContinuousClock.now
        if let lastLook, now - lastLook <= .seconds(1) { return false }
        lastLook = now
        return access(next, F_OK) == 0 || Date().timeIntervalSince(begun) >= options.segmentAge / .seconds(1)
    }

    /// Waits until what was written is on the disk.
    func sync() throws(NetworkError) { try file.sync() }

    /// When the first record of the segment at a path was written; nil where there is none.
    static func begin(of path: String) -> Date? {
        do throws(NetworkError) { return begin(of: try OpenFile(reading: path, followsLinks: false)) } catch {
            return nil
        }
    }

    /// The moment that the first record tells; nil where there is none.
    private static func begin(of file: OpenFile) -> Date? {
        var head = [UInt8](repeating: 0, count: 1 << 10)
        let count = head.withUnsafeMutableBytes { bytes in
            do throws(NetworkError) { return try file.read(into: bytes, at: 0) } catch { return 0 }
        }
        let line = head[..<count].split(separator: UInt8(ascii: "\n")).first
        guard let line, let record = try? JSONDocument(Array(line)) else { return nil }
        return record.root["time"]?.string.flatMap(Timestamp.date)
    }
}
