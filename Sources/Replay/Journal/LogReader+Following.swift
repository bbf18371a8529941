import BeagleNet
import BeagleNetHTTP

extension LogReader {
    /// The entries of a log as they end, until the task is cancelled: first those that there are, in the order in which they
    /// ended, unless `isNew`.
    ///
    /// - Parameters:
    ///   - isNew: whether those are left out that are there already.
    ///   - interval: how often the log is looked at; a fifth of a second by default.
    ///   - clock: what that is measured with.
    public func following(
        isNew: Bool = false,
        every interval: Duration = .milliseconds(200),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> Following {
        Following(directory: directory, isNew: isNew, interval: interval, clock: clock)
    }

    /// Entries as they end.
    public struct Following: AsyncSequence, Sendable {
        fileprivate let directory: LogDirectory
        fileprivate let isNew: Bool
        fileprivate let interval: Duration
        fileprivate let clock: any Clock<Duration>

        /// Begins to look when the first is asked for.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

        /// Gives entries as they end.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let following: Following
            private var tail: LogTail
            private var isPrimed = false

            fileprivate init(_ following: Following) {
                self.following = following
                tail = LogTail(following.directory)
            }

            /// The next entry, as soon as there is one.
            ///
            /// - Throws: `NetworkError` of kind `.file` where the log cannot be read, `.cancelled` where the task was cancelled.
            public mutating func next() async throws(NetworkError) -> LogEntry? {
                if !isPrimed, following.isNew {
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

/// Reads a log on from where it stopped.
private struct LogTail {
    private let directory: LogDirectory
    /// Where each segment is read on.
    private var offsets: [Int: Int64] = [:]
    private var pending: [LogEntry] = []
    private var messages: [String: [(message: LoggedMessage, redactions: [String])]] = [:]

    init(_ directory: LogDirectory) {
        self.directory = directory
    }

    /// The next entry that has ended; nil where there is none for now.
    mutating func next() throws(NetworkError) -> LogEntry? {
        if pending.isEmpty {
            let segments = try directory.segments()
            offsets = offsets.filter { segments.contains($0.key) }
            for segment in segments {
                try read(segment)
                if pending.count >= 100 { break }
            }
            // Taken from its end.
            pending.reverse()
        }
        return pending.popLast()
    }

    private mutating func read(_ segment: Int) throws(NetworkError) {
        var lines = LogLines(path: directory.segment(segment), from: offsets[segment] ?? 0)
        while pending.count < 100, let line = try lines.next() {
            // The rest of it may be on its way.
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
        // Of one that has not begun here nobody would take them away.
        case .message(let id, let node, let redactions): messages[id]?.append((LoggedMessage(node), redactions))
        case .end(let id, let node):
            var entry = LogEntry(node)
            for (message, redactions) in messages.removeValue(forKey: id) ?? [] { entry.take(message, redactions) }
            pending.append(entry)
        case .losses, .other: break
        }
    }
}
