import BeagleNet
import BeagleNetHTTP

extension RequestLog.Reader {
    /// Returns the entries of a log as they end, until the task is cancelled.
    ///
    /// Existing entries come first, in the order in which they ended, unless `skipsExisting` is true.
    ///
    /// - Parameters:
    ///   - skipsExisting: whether to skip existing entries.
    ///   - interval: the time between checks of the log; 200 milliseconds by default.
    ///   - clock: the clock that measures the interval.
    public func following(
        skipsExisting: Bool = false,
        every interval: Duration = .milliseconds(200),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> Following {
        Following(directory: directory, skipsExisting: skipsExisting, interval: interval, clock: clock)
    }

    /// A sequence of a log's entries, in the order in which they end.
    public struct Following: AsyncSequence, Sendable {
        fileprivate let directory: LogDirectory
        fileprivate let skipsExisting: Bool
        fileprivate let interval: Duration
        fileprivate let clock: any Clock<Duration>

        /// Creates an iterator, which starts to read when the first entry is requested.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

        /// An iterator over entries as they end.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let following: Following
            private var tail: LogTail
            private var isPrimed = false

            fileprivate init(_ following: Following) {
                self.following = following
                tail = LogTail(following.directory)
            }

            /// Waits for the next entry.
            ///
            /// - Throws: `NetworkError` of kind `.file` if the log cannot be read, `.cancelled` if the task is
            ///   cancelled.
            public mutating func next() async throws(NetworkError) -> LogEntry? {
                if !isPrimed, following.skipsExisting {
                    while try tail.next() != nil {}
                }
                isPrimed = true
                while true {
                    if let entry = try tail.next() { return entry }
                    let (clock, interval) = (following.clock, following.interval)
                    try await NetworkError.catching { try await clock.sleep(for: interval) }
                }
            }
        }
    }
}

/// A reader that continues a log from its last position.
private struct LogTail {
    private let directory: LogDirectory
    /// The offset at which each segment continues.
    private var offsets: [Int: Int64] = [:]
    private var pending: [LogEntry] = []
    private var messages: [String: [(message: LogEntry.Message, redactions: [String])]] = [:]

    init(_ directory: LogDirectory) {
        self.directory = directory
    }

    /// Returns the next entry that has ended; `nil` if no other entry has ended yet.
    mutating func next() throws(NetworkError) -> LogEntry? {
        if pending.isEmpty {
            let segments = try directory.segments()
            offsets = offsets.filter { segments.contains($0.key) }
            for segment in segments {
                try read(segment)
                if pending.count >= 100 { break }
            }
            // Entries are popped from the end.
            pending.reverse()
        }
        return pending.popLast()
    }

    private mutating func read(_ segment: Int) throws(NetworkError) {
        var lines = LogLines(path: directory.segment(segment), from: offsets[segment] ?? 0)
        while pending.count < 100, let line = try lines.next() {
            // The rest of the line may be written later.
            if case .unfinished = line.content { return }
            offsets[segment] = lines.offset
            guard case .whole(let bytes) = line.content, case .success(let record) = LogRecord.read(bytes) else {
                continue
            }
            take(record)
        }
    }

    private mutating func take(_ record: LogRecord) {
        switch record {
        case .start(let id, _): messages[id] = messages[id] ?? []
        // Messages of an exchange that began elsewhere are ignored, since nothing would remove them.
        case .message(let id, let node, let redactions): messages[id]?.append((LogEntry.Message(node), redactions))
        case .end(let id, let node):
            var entry = LogEntry(node)
            for (message, redactions) in messages.removeValue(forKey: id) ?? [] { entry.append(message, redactions) }
            pending.append(entry)
        case .losses, .other: break
        }
    }
}
