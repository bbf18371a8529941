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

/// The last segment of a log, to which one or several processes append.
struct Segment {
    let number: Int
    private let file: OpenFile
    /// The time at which its first record was written.
    private let begun: Date
    private let next: String
    /// The size in bytes, as far as this process knows.
    private var size: Int64 = 0
    /// The size in bytes of the bodies to which this process's records refer.
    var bodyBytes: Int64 = 0
    private var lastStatusCheck: ContinuousClock.Instant?
    /// The pending records.
    private(set) var batch = RecordBatch()

    /// Opens the last segment, or creates the first one.
    init(last directory: LogDirectory) throws(NetworkError) {
        try self.init(directory, max(1, try directory.segments().last ?? 1))
    }

    /// Opens a segment, or creates it.
    init(_ directory: LogDirectory, _ number: Int) throws(NetworkError) {
        self.number = number
        file = try OpenFile(appending: directory.segment(number))
        next = directory.segment(number + 1)
        begun = Self.begin(of: file) ?? Date()
    }

    /// Adds a record to the batch.
    mutating func append(_ record: UnsafeBufferPointer<UInt8>) {
        let before = batch.bytes.count
        batch.append(record)
        size += Int64(batch.bytes.count - before)
    }

    /// Writes the batch in a single call, so that it stays contiguous if other processes write at the same time.
    mutating func flush() throws(NetworkError) {
        // A record that was only partly written is written again completely.
        for _ in 0..<3 where batch.count > 0 {
            let written = try batch.bytes.withUnsafeBufferPointer { (bytes) throws(NetworkError) in
                try file.writeOnce(UnsafeRawBufferPointer(bytes))
            }
            batch.drop(written: written)
        }
        if batch.count > 0 { throw NetworkError(.file, during: .file, "only part of a record was written") }
    }

    /// Returns whether a new segment is needed: this one is full, too old or removed, or another process has begun the
    /// next.
    ///
    /// - Parameter checksStatus: whether to check for changes by other processes.
    mutating func needsSuccessor(_ options: RequestLog.Options, checksStatus: Bool) throws(NetworkError) -> Bool {
        if checksStatus {
            guard let size = try file.sizeWhileLinked() else { return true }
            self.size = size + Int64(batch.bytes.count)
        }
        if size + bodyBytes >= options.segmentBytes { return true }
        guard checksStatus else { return false }
        let now = ContinuousClock.now
        if let lastStatusCheck, now - lastStatusCheck <= .seconds(1) { return false }
        lastStatusCheck = now
        return access(next, F_OK) == 0 || Date().timeIntervalSince(begun) >= options.segmentAge / .seconds(1)
    }

    /// Waits until all written data is on the disk.
    func sync() throws(NetworkError) { try file.sync() }

    /// Returns the time of the first record in the segment at a path; `nil` if it cannot be read.
    static func begin(of path: String) -> Date? {
        do throws(NetworkError) { return begin(of: try OpenFile(reading: path, followsLinks: false)) } catch {
            return nil
        }
    }

    /// Returns the time stated in the first record; `nil` if it cannot be read.
    private static func begin(of file: OpenFile) -> Date? {
        var head = [UInt8](repeating: 0, count: 1 << 10)
        let count = head.withUnsafeMutableBytes { bytes in
            do throws(NetworkError) { return try file.read(into: bytes, at: 0) } catch { return 0 }
        }
        let line = head[..<count].split(separator: UInt8(ascii: "\n")).first
        guard let line, let record = try? ParsedJSON(Array(line)) else { return nil }
        return record.root["time"]?.string.flatMap(Timestamp.date)
    }
}
