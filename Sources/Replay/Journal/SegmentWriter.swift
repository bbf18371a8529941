import BeagleNet
import BeagleNetHTTP
import Dispatch
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

/// A writer of records at the end of a log. It manages segments and handles their failures.
///
/// Used only by the log's writer.
final class SegmentWriter {
    private let directory: LogDirectory
    private let options: RequestLog.Options
    private let session: LogSession
    private var segment: Segment?
    /// Whether another process may have written to the segment, or removed it, since the last check.
    var needsStatusCheck = true
    /// The file that is locked while the session is open.
    private var live: OpenFile?
    /// The end of the pause after a failure; `nil` if nothing has failed.
    private var pausedUntil: ContinuousClock.Instant?
    private var hasWarned = false
    /// The losses that are not yet reported in the log.
    var losses = LogQueue.Losses()
    /// The time since which written data is not flushed to the disk, although it should be.
    private var unsynced: ContinuousClock.Instant?
    private var limits: LogLimits
    /// The last record, whose memory is reused.
    private var record = JSONOutput(capacity: 4 << 10)
    /// The maximum size of pending records in bytes, which are lost if the process is killed.
    private static let maxPendingBytes = 32 << 10
    /// Whether the directory may exceed its limits.
    private var needsCleanup = true

    init(_ directory: LogDirectory, _ options: RequestLog.Options, _ session: LogSession) {
        self.directory = directory
        self.options = options
        self.session = session
        limits = LogLimits(directory, options)
    }

    /// Opens the log.
    func open() throws(NetworkError) {
        try directory.make()
        if live == nil { live = try OpenFile.locked(directory.live(session.id)) }
        try begin(try Segment(last: directory))
    }

    // MARK: records

    /// Adds a record to the batch, which is written by `flush` or when it is large enough.
    ///
    /// - Returns: whether the record was accepted; otherwise it counts as lost.
    @discardableResult
    func append(_ kind: String, _ members: (inout JSONOutput) -> Void) -> Bool {
        guard !isPaused else {
            losses.records += 1
            return false
        }
        do throws(NetworkError) {
            try prepare()
        } catch {
            losses.records += 1
            pause(after: error)
            return false
        }
        return add(kind, members) && (hasRoom(for: 0) || flush())
    }

    /// Adds a record to the batch of the current segment.
    private func add(_ kind: String, _ members: (inout JSONOutput) -> Void) -> Bool {
        record.reset()
        record.object { output in
            output.member("k", kind)
            members(&output)
        }
        return record.withBytes { record in
            // Readers would skip the record.
            let isShort = record.count <= LogLines.limit
            if isShort { segment?.append(record) } else { losses.records += 1 }
            return isShort
        }
    }

    /// Returns whether the batch can wait until this number of bytes is processed.
    func hasRoom(for bytes: Int) -> Bool { (segment?.batch.bytes.count ?? 0) + bytes <= Self.maxPendingBytes }

    /// Writes the pending records.
    ///
    /// - Returns: whether they were written; otherwise they count as lost.
    @discardableResult
    func flush() -> Bool {
        do throws(NetworkError) { try write() } catch {
            pause(after: error)
            return false
        }
        return true
    }

    private func write() throws(NetworkError) {
        guard let waiting = segment?.batch.count, waiting > 0 else { return }
        try segment?.flush()
        pausedUntil = nil
        if case .power = options.durability, unsynced == nil { unsynced = .now }
    }

    /// Writes a record about losses, as soon as there is room.
    func writeLosses() {
        guard !losses.isEmpty, !isPaused else { return }
        let written = losses
        losses = LogQueue.Losses()
        let isWritten = append("note") { output in
            output.member("time", Timestamp.text(of: session.date(of: .now)))
            output.member("text", "there was no room for everything")
            output.member("lostRecords", written.records)
            output.member("lostBodies", written.bodies)
        }
        if !isWritten || !flush() { losses = written }
    }

    // MARK: segments

    /// Makes sure that there is a segment with room.
    private func prepare() throws(NetworkError) {
        guard let needsSuccessor = try segment?.needsSuccessor(options, checksStatus: needsStatusCheck) else {
            return try open()
        }
        needsStatusCheck = false
        guard needsSuccessor else { return }
        try write()
        guard let current = segment else { return try open() }
        // This process doesn't write to the segment again.
        if options.durability != .process { try current.sync() }
        unsynced = nil
        segment = nil
        try directory.make()
        let last = try directory.segments().last ?? 0
        try begin(try Segment(directory, max(last, current.number + 1)))
        needsCleanup = true
    }

    /// Adds the size of the bodies to which the last record refers.
    func count(bodyBytes: Int64) { segment?.bodyBytes += bodyBytes }

    /// Starts to write to a segment, with a record that identifies the session.
    private func begin(_ new: Segment) throws(NetworkError) {
        segment = new
        _ = add("open") { output in
            output.member("v", LogDirectory.format)
            output.member("time", Timestamp.text(of: session.date(of: .now)))
            output.member("session", session.id)
            output.member("pid", session.process)
        }
        do throws(NetworkError) { try segment?.flush() } catch {
            segment = nil
            throw error
        }
        needsStatusCheck = true
    }

    /// Removes data that exceeds the limits, unless jobs are waiting. A failure doesn't affect records.
    func clear(unless isBusy: () -> Bool) {
        guard needsCleanup, !isPaused else { return }
        do throws(NetworkError) {
            needsCleanup = try !limits.clear(unless: isBusy)
        } catch {
            needsCleanup = false
            warnOnce("old records are not removed", error)
        }
    }

    /// Ends the session.
    func close() {
        needsStatusCheck = true
        writeLosses()
        if segment != nil {
            append("close") { output in
                output.member("time", Timestamp.text(of: session.date(of: .now)))
                output.member("session", session.id)
            }
            flush()
        }
        if options.durability != .process { sync() }
        // A short session has no other opportunity.
        clear { false }
        if live != nil { unlink(directory.live(session.id)) }
        live = nil
    }

    // MARK: failures

    /// Whether writing is paused after a failure.
    var isPaused: Bool {
        guard let until = pausedUntil else { return false }
        return ContinuousClock.now < until
    }

    /// Pauses writing for a while.
    private func pause(after error: NetworkError) {
        pausedUntil = .now + options.pauseAfterFailure
        // The records written so far should survive nevertheless. The logger was already notified of the failure.
        if unsynced != nil { do throws(NetworkError) { try segment?.sync() } catch {} }
        unsynced = nil
        losses.records += segment?.batch.count ?? 0
        segment = nil
        warnOnce("requests are not recorded", error)
    }

    /// Counts a body that could not be written, and reports the error. Records are not affected.
    func countLostBody(_ error: NetworkError) {
        losses.bodies += 1
        warnOnce("bodies are not recorded", error)
    }

    /// Notifies the logger, but only once.
    private func warnOnce(_ what: String, _ error: NetworkError) {
        if !hasWarned {
            options.logger.log(RecordingStopped(what: what, directory: directory.path, error: error))
        }
        hasWarned = true
    }

    // MARK: durability

    /// The deadline of the next flush to the disk.
    var nextSync: DispatchTime {
        guard case .power(let interval) = options.durability, let unsynced else { return .distantFuture }
        let rest = max(.zero, interval - (ContinuousClock.now - unsynced))
        return .now() + rest / .seconds(1)
    }

    func syncIfDue() {
        guard case .power(let interval) = options.durability, let unsynced, .now - unsynced >= interval else { return }
        sync()
    }

    func sync() {
        unsynced = nil
        do throws(NetworkError) { try segment?.sync() } catch { pause(after: error) }
    }
}

/// The log message for a log that cannot be written.
struct RecordingStopped: LogType {
    let what: String
    let directory: String
    let error: NetworkError

    var category: String { "Recording" }
    var level: LogLevel { .warning }
    var message: String { "\(what) in \(directory) for now: \(error.message)" }
}
