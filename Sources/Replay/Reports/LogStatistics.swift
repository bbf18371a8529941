/// How many exchanges a recording holds, how long they took, what they weighed and how they ended: of all, and by kind,
/// host and GraphQL operation.
public struct LogStatistics: Sendable, Hashable {
    /// Exchanges that have something in common.
    public struct Group: Sendable, Hashable {
        /// What they have in common; empty for all.
        public let name: String
        /// How many there are.
        public private(set) var count = 0
        /// Those without a whole answer.
        public private(set) var failures = 0
        /// Those with a status of 400 and above.
        public private(set) var refusals = 0
        /// Those that led to another URL.
        public private(set) var redirects = 0
        /// Those that a store answered.
        public private(set) var fromStore = 0
        /// Those that a server answered, over a connection that was open already.
        public private(set) var reused = 0
        /// Those that a server answered.
        public private(set) var answered = 0
        /// Bytes sent, heads included where their size is known.
        public private(set) var bytesSent: Int64 = 0
        /// Bytes received, heads included where their size is known; of a body whose size on the wire nobody knows the
        /// decoded size.
        public private(set) var bytesReceived: Int64 = 0
        /// How long each took, the shortest first. Those that were interrupted are left out.
        private var durations: [Duration] = []

        fileprivate init(_ name: String, _ entries: some Sequence<LogEntry>) {
            self.name = name
            for entry in entries { add(entry) }
            durations.sort()
        }
    }

    /// All exchanges.
    public let all: Group
    /// By the kind of operation (`component`, `form`), the most frequent first; `other` is of none that is known.
    public let kinds: [Group]
    /// By host, the most frequent first.
    public let hosts: [Group]
    /// By GraphQL operation, the most frequent first.
    public let operations: [Group]

    /// Counts what is in a recording.
    ///
    /// - Parameters:
    ///   - recording: what is counted.
    ///   - filter: which entries count; all by default.
    public init(_ recording: Recording, filter: EntryFilter? = nil) {
        self.init(recording.entries(matching: filter).map(\.entry))
    }

    init(_ entries: [LogEntry]) {
        all = Group("", entries)
        kinds = Self.groups(entries) { $0.kind ?? "other" }
        hosts = Self.groups(entries) { URLPlace($0.request.url).host }
        operations = Self.groups(entries, by: \.operationName)
    }

    private static func groups(_ entries: [LogEntry], by name: (LogEntry) -> String?) -> [Group] {
        let named = entries.compactMap { entry in name(entry).map { (name: $0, entry: entry) } }
        return Dictionary(grouping: named, by: \.name)
            .map { Group($0.key, $0.value.lazy.map(\.entry)) }
            .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    }
}

extension LogStatistics.Group {
    /// The time within which this share of the exchanges came to an end (nearest rank); nil where there are none.
    ///
    /// - Parameter share: from 0 to 1: 0.5 is the median.
    public func percentile(_ share: Double) -> Duration? {
        guard !durations.isEmpty, share >= 0, share <= 1 else { return nil }
        return durations[max(Int((share * Double(durations.count)).rounded(.up)) - 1, 0)]
    }

    /// The share of the answers that came over a connection which was open already; nil where no server answered.
    public var shareOfReused: Double? { answered == 0 ? nil : Double(reused) / Double(answered) }

    fileprivate mutating func add(_ entry: LogEntry) {
        count += 1
        if entry.failed { failures += 1 }
        if !entry.isInterrupted { durations.append(entry.timings.total) }
        if entry.isFromStore { fromStore += 1 }
        let request = entry.request
        let sent = request.bodyBytes >= 0 ? request.bodyBytes : max(request.body?.size ?? 0, 0)
        bytesSent = bytesSent.adding(sent).adding(max(request.headBytes, 0))
        guard let response = entry.response, response.status > 0 else { return }
        if response.status >= 400 { refusals += 1 }
        if !response.redirectURL.isEmpty { redirects += 1 }
        guard !entry.isFromStore else { return }
        answered += 1
        if entry.timings.connect ?? .zero == .zero { reused += 1 }
        let received = response.bodyBytes >= 0 ? response.bodyBytes : max(response.body.size, 0)
        bytesReceived = bytesReceived.adding(received).adding(max(response.headBytes, 0))
    }
}

extension LogEntry {
    /// Whether there is no whole answer.
    package var failed: Bool {
        error != nil || isInterrupted || response.map { $0.status <= 0 } ?? true
    }
}

extension Int64 {
    /// The sum, or the largest number there is: an archive may say anything.
    func adding(_ other: Int64) -> Int64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
