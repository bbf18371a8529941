import BeagleNet
import BeagleNetHTTP

/// An index of the records in a log.
struct LogIndex: Sendable {
    /// The position of a record.
    struct Place: Sendable, Hashable {
        let segment: Int32
        let bytes: Int32
        let offset: Int64
    }

    /// An exchange, with the position of its most complete record.
    struct Row: Sendable {
        /// The start time in seconds since 1970.
        let started: Double
        let place: Place
        var messages: [Place] = []
        /// Whether the exchange has not ended.
        var isOpen = false
    }

    private static let maxWarnings = 1_000

    private(set) var rows: [Row] = []
    private(set) var warnings: [Recording.Warning] = []
    /// The number of skipped records, including those without a warning.
    private(set) var skipped = 0
    /// The exchanges that have begun but not ended, by their identifiers.
    private var open: [String: Row] = [:]

    /// Reads a log.
    ///
    /// - Parameter includesInFlight: whether to include exchanges that are in flight in a running process.
    init(_ directory: LogDirectory, includesInFlight: Bool) throws(NetworkError) {
        for segment in try directory.segments() {
            do throws(NetworkError) {
                try read(segment, of: directory)
            } catch {
                // The segment may have just been removed for being the oldest.
                warn(directory.segment(segment), nil, error.message)
            }
        }
        var living: [Substring: Bool] = [:]
        for (id, row) in open {
            let session = id.prefix(upTo: id.lastIndex(of: "-") ?? id.startIndex)
            let lives = living[session] ?? OpenFile.isLocked(directory.live(String(session)))
            living[session] = lives
            if !lives || includesInFlight { rows.append(row) }
        }
        open = [:]
        rows.sort { one, other in
            (one.started, one.place.segment, one.place.offset)
                < (other.started, other.place.segment, other.place.offset)
        }
    }

    private mutating func read(_ segment: Int, of directory: LogDirectory) throws(NetworkError) {
        let path = directory.segment(segment)
        var lines = LogLines(path: path)
        while let line = try lines.next() {
            switch line.content {
            case .whole(let bytes):
                switch LogRecord.read(bytes) {
                case .success(.losses(let records, let bodies)): warnAboutLosses(records, bodies, path, line.offset)
                case .success(let record):
                    take(
                        record,
                        Place(
                            segment: Int32(clamping: segment),
                            bytes: Int32(clamping: bytes.count),
                            offset: line.offset
                        )
                    )
                case .failure(let problem): warn(path, line.offset, problem.reason)
                }
            case .unfinished: warn(path, line.offset, "a truncated record")
            case .tooLong: warn(path, line.offset, "a line that is too long for a record")
            }
        }
    }

    private mutating func take(_ record: LogRecord, _ place: Place) {
        switch record {
        case .start(let id, let entry):
            // The later of two start records is more complete.
            let messages = open[id]?.messages ?? []
            open[id] = Row(started: entry.started, place: place, messages: messages, isOpen: true)
        case .message(let id, _, _):
            open[id, default: Row(started: 0, place: place, isOpen: true)].messages.append(place)
        case .end(let id, let entry):
            let messages = open.removeValue(forKey: id)?.messages ?? []
            rows.append(Row(started: entry.started, place: place, messages: messages))
        case .losses, .other: break
        }
    }

    /// Adds a warning about records and bodies that were dropped because there was no room.
    private mutating func warnAboutLosses(_ records: Int64, _ bodies: Int64, _ file: String, _ offset: Int64) {
        let lost = [(records, "record", "records"), (bodies, "body", "bodies")].compactMap { count, one, many in
            count > 0 ? counted(Int(count), one, many) : nil
        }
        append(
            file,
            offset,
            "missing before this record: \(lost.joined(separator: " and ")), because there was no room"
        )
    }

    mutating func warn(_ file: String, _ offset: Int64?, _ reason: String) {
        skipped += 1
        append(file, offset, reason)
    }

    private mutating func append(_ file: String, _ offset: Int64?, _ reason: String) {
        guard warnings.count < Self.maxWarnings else { return }
        warnings.append(Recording.Warning(file: file, offset: offset.map { Int($0) }, reason: reason))
    }
}

extension JSONNode {
    fileprivate var started: Double {
        self["startedDateTime"]?.string.flatMap(Timestamp.date)?.timeIntervalSince1970 ?? 0
    }
}
