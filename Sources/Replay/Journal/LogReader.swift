public import BeagleNet
import BeagleNetHTTP
import CBeagleNetCurl
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

/// Reads a log, also one that is being written.
///
/// What a killed process left half written, what a loss of power left as zeros, and what a newer version wrote is passed
/// over and told with its place. Nothing of the log is changed.
public struct LogReader: Sendable {
    let directory: LogDirectory

    /// Reads what is in a directory.
    ///
    /// - Throws: `NetworkError` of kind `.file` where there is no log.
    public init(directory: String) throws(NetworkError) {
        self.directory = LogDirectory(path: directory)
        guard LogReader.isLog(directory) else {
            let isThere = access(directory, F_OK) == 0
            throw NetworkError(
                .file,
                during: .file,
                isThere ? "\(directory) is not a request log" : "the log \(directory) does not exist",
                advice: "use a directory that --record or RequestLog has written"
            )
        }
    }

    /// Whether there is a log in a directory.
    public static func isLog(_ directory: String) -> Bool {
        let directory = LogDirectory(path: directory)
        return access(directory.meta.path, F_OK) == 0 || access(directory.segment(1), F_OK) == 0
    }

    /// What the log has now, by the time at which it began.
    ///
    /// - Parameter includesInFlight: whether exchanges count that a living process has under way: as `isInterrupted`, which
    ///   those of a process that has ended always are.
    /// - Throws: `NetworkError` of kind `.file` where the directory cannot be read.
    public func entries(includesInFlight: Bool = false) throws(NetworkError) -> Entries {
        var index = try LogIndex(directory, includesInFlight: includesInFlight)
        index.warn(about: directory)
        return Entries(directory: directory, index: index)
    }

    /// The whole log in memory, but for the bodies that are in files.
    ///
    /// - Throws: `NetworkError` of kind `.file` where the directory cannot be read.
    public func recording(includesInFlight: Bool = false) throws(NetworkError) -> Recording {
        let entries = try entries(includesInFlight: includesInFlight)
        return Recording(Array(entries), directory: directory.path, warnings: entries.warnings)
    }

    /// The entries of a log as it was when they were asked for; one is read when it is its turn.
    public struct Entries: Sequence, Sendable {
        fileprivate let directory: LogDirectory
        fileprivate let index: LogIndex

        /// How many there are.
        public var count: Int { index.rows.count }
        /// What was passed over, and what there was no room for when it was written, with its place; the first thousand.
        public var warnings: [RecordingWarning] { index.warnings }
        /// How much was passed over.
        public var skipped: Int { index.skipped }

        /// Begins with the oldest. One that was removed meanwhile, as a log that has grown too large removes its oldest, is
        /// left out.
        public func makeIterator() -> Iterator { Iterator(self) }

        /// Reads entries one after another.
        public struct Iterator: IteratorProtocol {
            private let entries: Entries
            private var position = 0
            private var files = LogFiles()

            fileprivate init(_ entries: Entries) {
                self.entries = entries
            }

            /// The next entry; nil at the end.
            public mutating func next() -> LogEntry? {
                while position < entries.index.rows.count {
                    let row = entries.index.rows[position]
                    position += 1
                    if let entry = files.entry(row, in: entries.directory) { return entry }
                }
                return nil
            }
        }
    }
}

extension LogIndex {
    /// A newer version may have written what is not understood.
    fileprivate mutating func warn(about directory: LogDirectory) {
        guard let meta = try? directory.meta.read(), let format = LogDirectory.format(of: meta),
            format > LogDirectory.format
        else { return }
        warn(
            directory.meta.path,
            nil,
            "written in format \(format), but this version reads up to format \(LogDirectory.format)"
        )
    }
}

/// The segments that are open to be read.
private struct LogFiles {
    private var open: (segment: Int32, file: OpenFile)?

    /// The entry of a row; nil where it is not there any more.
    mutating func entry(_ row: LogIndex.Row, in directory: LogDirectory) -> LogEntry? {
        guard let record = record(at: row.place, in: directory) else { return nil }
        var entry: LogEntry
        switch record {
        case .start(_, let node), .end(_, let node): entry = LogEntry(node)
        // The segment in which it began is gone.
        case .message(let id, let message, _):
            entry = LogEntry(id: id, started: LoggedMessage(message).time, request: LoggedRequest(method: "", url: ""))
        case .losses, .other: return nil
        }
        for place in row.messages {
            if case .message(_, let message, let redactions) = self.record(at: place, in: directory) {
                entry.take(LoggedMessage(message), redactions)
            }
        }
        if row.isOpen { entry.interrupt(in: directory) }
        return entry
    }

    private mutating func record(at place: LogIndex.Place, in directory: LogDirectory) -> LogRecord? {
        if open?.segment != place.segment {
            guard let file = try? OpenFile(reading: directory.segment(Int(place.segment)), followsLinks: false) else {
                return nil
            }
            open = (place.segment, file)
        }
        guard let file = open?.file else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(place.bytes))
        let count = bytes.withUnsafeMutableBytes { try? file.read(into: $0, at: place.offset) }
        guard count == bytes.count else { return nil }
        return try? LogRecord.read(bytes).get()
    }
}

extension LogEntry {
    /// Takes a message that has a record of its own.
    mutating func take(_ message: LoggedMessage, _ redactions: [String]) {
        self.redactions += redactions.map { "_webSocketMessages[\(messages.count)].data\($0)" }
        messages.append(message)
    }

    /// It has not ended: it has what came of its bodies.
    fileprivate mutating func interrupt(in directory: LogDirectory) {
        isInterrupted = true
        error = error ?? "interrupted"
        func partial(_ body: LoggedBody, _ side: BodySide) -> LoggedBody {
            let name = directory.part(of: id, side)
            var status = stat()
            guard lstat("\(directory.path)/\(name)", &status) == 0 else { return body }
            return LoggedBody(.file(name), mediaType: body.mediaType, size: -1, isTruncated: true)
        }
        request.body = request.body.map { partial($0, .request) }
        if let body = response?.body { response?.body = partial(body, .response) }
    }
}
