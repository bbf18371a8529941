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

extension RequestLog {
    /// A reader of logs, including those that are still being written.
    ///
    /// It skips records that a killed process left unfinished, zeros left by a power failure, and records of newer
    /// versions, and reports their positions as warnings. The log is never changed.
    public struct Reader: Sendable {
        let directory: LogDirectory

        /// Opens the log in a directory.
        ///
        /// - Throws: `NetworkError` of kind `.file` if there is no log.
        public init(directory: String) throws(NetworkError) {
            self.directory = LogDirectory(path: directory)
            guard Reader.isLog(directory) else {
                let isThere = access(directory, F_OK) == 0
                throw NetworkError(
                    .file,
                    during: .file,
                    isThere ? "\(directory) is not a request log" : "the log \(directory) does not exist",
                    advice: "use a directory that --record or RequestLog has written"
                )
            }
        }

        /// Returns whether a directory contains a log.
        public static func isLog(_ directory: String) -> Bool {
            let directory = LogDirectory(path: directory)
            return access(directory.meta.path, F_OK) == 0 || access(directory.segment(1), F_OK) == 0
        }

        /// Reads the current entries of the log, sorted by the time at which they began.
        ///
        /// - Parameter includesInFlight: whether to include exchanges that are in flight in a running process. They are
        ///   marked as `isInterrupted`, as are unfinished ones of a process that has ended, which are always included.
        /// - Throws: `NetworkError` of kind `.file` if the directory cannot be read.
        public func entries(includesInFlight: Bool = false) throws(NetworkError) -> Entries {
            var index = try LogIndex(directory, includesInFlight: includesInFlight)
            index.warn(about: directory)
            return Entries(directory: directory, index: index)
        }

        /// Reads the whole log into memory, except for bodies in files.
        ///
        /// - Throws: `NetworkError` of kind `.file` if the directory cannot be read.
        public func recording(includesInFlight: Bool = false) throws(NetworkError) -> Recording {
            let entries = try entries(includesInFlight: includesInFlight)
            return Recording(Array(entries), directory: directory.path, warnings: entries.warnings)
        }

        /// A snapshot of a log's entries, each of which is read only when the iterator reaches it.
        public struct Entries: Sequence, Sendable {
            fileprivate let directory: LogDirectory
            fileprivate let index: LogIndex

            /// The number of entries.
            public var count: Int { index.rows.count }
            /// The first thousand warnings about skipped records, and about losses while the log was written, with
            /// their positions.
            public var warnings: [Recording.Warning] { index.warnings }
            /// The number of skipped records.
            public var skipped: Int { index.skipped }

            /// Creates an iterator that begins with the oldest entry.
            ///
            /// Entries that were removed in the meantime because the log has grown too large are skipped.
            public func makeIterator() -> Iterator { Iterator(self) }

            /// An iterator over the entries of a log.
            public struct Iterator: IteratorProtocol {
                private let entries: Entries
                private var position = 0
                private var files = LogFiles()

                fileprivate init(_ entries: Entries) {
                    self.entries = entries
                }

                /// Returns the next entry; `nil` at the end.
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
}

extension LogIndex {
    /// Adds a warning if the log has a newer format.
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

/// The segment file that is currently open for reading.
private struct LogFiles {
    private var open: (segment: Int32, file: OpenFile)?

    /// Returns the entry of a row; `nil` if it no longer exists.
    mutating func entry(_ row: LogIndex.Row, in directory: LogDirectory) -> LogEntry? {
        guard let record = record(at: row.place, in: directory) else { return nil }
        var entry: LogEntry
        switch record {
        case .start(_, let node), .end(_, let node): entry = LogEntry(node)
        // The segment that contains the start of the exchange was removed.
        case .message(let id, let message, _):
            entry = LogEntry(
                id: id,
                started: LogEntry.Message(message).time,
                request: LogEntry.Request(method: "", url: "")
            )
        case .losses, .other: return nil
        }
        for place in row.messages {
            if case .message(_, let message, let redactions) = self.record(at: place, in: directory) {
                entry.append(LogEntry.Message(message), redactions)
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
    /// Adds a message from a record of its own.
    mutating func append(_ message: Message, _ redactions: [String]) {
        self.redactions += redactions.map { "_webSocketMessages[\(messages.count)].data\($0)" }
        messages.append(message)
    }

    /// Marks the entry as interrupted, and adds the received parts of its bodies.
    fileprivate mutating func interrupt(in directory: LogDirectory) {
        isInterrupted = true
        error = error ?? "interrupted"
        func partial(_ body: Body, _ side: MessageSide) -> Body {
            let name = directory.part(of: id, side)
            var status = stat()
            guard lstat("\(directory.path)/\(name)", &status) == 0 else { return body }
            return Body(.file(name), mediaType: body.mediaType, size: -1, isTruncated: true)
        }
        request.body = request.body.map { partial($0, .request) }
        if let body = response?.body { response?.body = partial(body, .response) }
    }
}
