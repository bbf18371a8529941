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

/// Writes records at the end of a log: sees to its segments, and to what goes wrong with them. Used by the writer of a log
/// alone.
final class SegmentWriter {
    private let directory: LogDirectory
    private let options: RequestLog.Options
    private let session: LogSession
    private var segment: Segment?
    /// Whether somebody else may have written to the segment, or removed it, since it was looked at.
    var isLookDue = true
    /// Held as long as the session lives.
    private var live: OpenFile?
    /// When to try again after a failure; nil where there was none.
    private var resting: ContinuousClock.Instant?
    private var hasWarned = false
    /// What was left out, and not told yet.
    var losses = LogQueue.Losses()
    /// Since when something is not on the disk that should be.
    private var unsynced: ContinuousClock.Instant?
    private var limits: LogLimits
    /// The record that was made last, whose room is used again.
    private var record = JSONOutput(capacity: 4 << 10)
    /// The most bytes of records that wait for others, as a kill takes them.
    private static let mostWaiting = 32 << 10
    /// Whether there may be too much in the directory.
    private var isClearDue = true

    init(_ directory: LogDirectory, _ options: RequestLog.Options, _ session: LogSession) {
        self.directory = directory
        self.options = options
        self.session = session
        limits = LogLimits(directory, options)
    }

    /// Opens the log.
    func open() throws(NetworkError) {
        try directory.make()
        if live == nil { live = try OpenFile.held(directory.live(session.id)) }
        try begin(try Segment(last: directory))
    }

    // MARK: records

    /// Writes a record of this kind, together with others: they are there when `flush` was called, or many wait.
    ///
    /// - Returns: whether it is to be written; it is counted as lost otherwise.
    @discardableResult
    func append(_ kind: String, _ members: (inout JSONOutput) -> Void) -> Bool {
        guard !isResting else {
            losses.records += 1
            return false
        }
        do throws(NetworkError) {
            try prepare()
        } catch {
            losses.records += 1
            rest(after: error)
            return false
        }
        return add(kind, members) && (hasRoom(for: 0) || flush())
    }

    /// Has a record wait to be written to the segment that there is.
    private func add(_ kind: String, _ members: (inout JSONOutput) -> Void) -> Bool {
        record.reset()
        record.object { output in
            output.member("k", kind)
            members(&output)
        }
        return record.withBytes { record in
            // Readers would pass it over.
            let isShort = record.count <= LogLines.limit
            if isShort { segment?.append(record) } else { losses.records += 1 }
            return isShort
        }
    }

    /// Whether what waits to be written may wait until so many bytes more are looked through.
    func hasRoom(for bytes: Int) -> Bool { (segment?.batch.bytes.count ?? 0) + bytes <= Self.mostWaiting }

    /// Writes what waits.
    ///
    /// - Returns: whether it was written; it is counted as lost otherwise.
    @discardableResult
    func flush() -> Bool {
        do throws(NetworkError) { try write() } catch {
            rest(after: error)
            return false
        }
        return true
    }

    private func write() throws(NetworkError) {
        guard let waiting = segment?.batch.count, waiting > 0 else { return }
        try segment?.flush()
        resting = nil
        if case .power = options.durability, unsynced == nil { unsynced = .now }
    }

    /// Says what was left out, once there is room to say it.
    func tellLosses() {
        guard !losses.isEmpty, !isResting else { return }
        let told = losses
        losses = LogQueue.Losses()
        let isTold = append("note") { output in
            output.member("time", Timestamp.text(of: session.date(of: .now)))
            output.member("text", "there was no room for everything")
            output.member("lostRecords", told.records)
            output.member("lostBodies", told.bodies)
        }
        if !isTold || !flush() { losses = told }
    }

    // MARK: segments

    /// Sees to it that there is a segment with room.
    private func prepare() throws(NetworkError) {
        guard let isOver = try segment?.isOver(options, looks: isLookDue) else { return try open() }
        isLookDue = false
        guard isOver else { return }
        try write()
        guard let current = segment else { return try open() }
        // Nobody comes back to it.
        if options.durability != .process { try current.sync() }
        unsynced = nil
        segment = nil
        try directory.make()
        let last = try directory.segments().last ?? 0
        try begin(try Segment(directory, max(last, current.number + 1)))
        isClearDue = true
    }

    /// What was written last refers to bodies of so many bytes.
    func count(bodyBytes: Int64) { segment?.bodyBytes += bodyBytes }

    /// Writes into a segment from now on, which says who does.
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
        isLookDue = true
    }

    /// Removes what there is too much of, as far as nobody waits to be written. That it fails costs no record.
    func clear(unless isBusy: () -> Bool) {
        guard isClearDue, !isResting else { return }
        do throws(NetworkError) {
            isClearDue = try !limits.clear(unless: isBusy)
        } catch {
            isClearDue = false
            tell("old records are not removed", error)
        }
    }

    /// Ends the session.
    func close() {
        isLookDue = true
        tellLosses()
        if segment != nil {
            append("close") { output in
                output.member("time", Timestamp.text(of: session.date(of: .now)))
                output.member("session", session.id)
            }
            flush()
        }
        if options.durability != .process { sync() }
        // Those who record for a moment have no other time for it.
        clear { false }
        if live != nil { unlink(directory.live(session.id)) }
        live = nil
    }

    // MARK: what goes wrong

    /// Whether nothing is written for a while, after a failure.
    var isResting: Bool {
        guard let until = resting else { return false }
        return ContinuousClock.now < until
    }

    /// Nothing is written for a while.
    private func rest(after error: NetworkError) {
        resting = .now + options.patience
        // What it has is to last all the same; of why it does not, somebody is told already.
        if unsynced != nil { do throws(NetworkError) { try segment?.sync() } catch {} }
        unsynced = nil
        losses.records += segment?.batch.count ?? 0
        segment = nil
        tell("requests are not recorded", error)
    }

    /// A body could not be written, which costs no record.
    func lose(_ error: NetworkError) {
        losses.bodies += 1
        tell("bodies are not recorded", error)
    }

    /// The first time somebody is told.
    private func tell(_ what: String, _ error: NetworkError) {
        if !hasWarned {
            options.logger.log(RecordingStopped(what: what, directory: directory.path, error: error))
        }
        hasWarned = true
    }

    // MARK: losses of power

    /// When to sync at the latest.
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
        do throws(NetworkError) { try segment?.sync() } catch { rest(after: error) }
    }
}

/// What a logger hears when a log cannot be written.
struct RecordingStopped: LogType {
    let what: String
    let directory: String
    let error: NetworkError

    var category: String { "Recording" }
    var level: LogLevel { .warning }
    var message: String { "\(what) in \(directory) for now: \(error.message)" }
}
