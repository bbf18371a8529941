extension Recording {
    /// The statistics of a recording: numbers, durations, sizes and results of exchanges, in total and by kind, host
    /// and GraphQL operation.
    public struct Statistics: Sendable, Hashable {
        /// A group of exchanges with a common property.
        public struct Group: Sendable, Hashable {
            /// The value of the common property; empty for all exchanges.
            public let name: String
            /// The number of exchanges.
            public private(set) var count = 0
            /// The number of exchanges without a complete response.
            public private(set) var failures = 0
            /// The number of responses with a status of 400 or above.
            public private(set) var errorStatuses = 0
            /// The number of redirects.
            public private(set) var redirects = 0
            /// The number of responses from a store.
            public private(set) var fromStore = 0
            /// The number of responses from a server over a reused connection.
            public private(set) var reused = 0
            /// The number of responses from a server.
            public private(set) var fromServer = 0
            /// The number of bytes sent, including heads of known size.
            public private(set) var bytesSent: Int64 = 0
            /// The number of bytes received, including heads of known size.
            ///
            /// If the size of a body on the wire is unknown, its decoded size is used.
            public private(set) var bytesReceived: Int64 = 0
            /// The durations in ascending order, without interrupted exchanges.
            private var durations: [Duration] = []

            fileprivate init(_ name: String, _ entries: some Sequence<LogEntry>) {
                self.name = name
                for entry in entries { add(entry) }
                durations.sort()
            }
        }

        /// The statistics of all exchanges.
        public let all: Group
        /// The groups by kind of operation (`component`, `form`), the most frequent first.
        ///
        /// `other` is the group of unknown kinds.
        public let kinds: [Group]
        /// The groups by host, the most frequent first.
        public let hosts: [Group]
        /// The groups by GraphQL operation, the most frequent first.
        public let operations: [Group]

        /// Creates the statistics of a recording.
        ///
        /// - Parameters:
        ///   - recording: the recording.
        ///   - filter: the filter for counted entries; all by default.
        public init(_ recording: Recording, filter: Filter? = nil) {
            self.init(recording.entries(matching: filter).map(\.entry))
        }

        init(_ entries: [LogEntry]) {
            all = Group("", entries)
            kinds = Self.groups(entries) { $0.kind ?? "other" }
            hosts = Self.groups(entries) { URLComponentsText($0.request.url).host }
            operations = Self.groups(entries, by: \.operationName)
        }

        private static func groups(_ entries: [LogEntry], by name: (LogEntry) -> String?) -> [Group] {
            let named = entries.compactMap { entry in name(entry).map { (name: $0, entry: entry) } }
            return Dictionary(grouping: named, by: \.name)
                .map { Group($0.key, $0.value.lazy.map(\.entry)) }
                .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
        }
    }
}

extension Recording.Statistics.Group {
    /// Returns a percentile of the durations (nearest rank); `nil` if the group has no durations.
    ///
    /// - Parameter share: the fraction from 0 to 1: 0.5 is the median.
    public func percentile(_ share: Double) -> Duration? {
        guard !durations.isEmpty, share >= 0, share <= 1 else { return nil }
        return durations[max(Int((share * Double(durations.count)).rounded(.up)) - 1, 0)]
    }

    /// The fraction of responses that were received over a reused connection; `nil` if no server responded.
    public var shareOfReused: Double? { fromServer == 0 ? nil : Double(reused) / Double(fromServer) }

    fileprivate mutating func add(_ entry: LogEntry) {
        count += 1
        if entry.failed { failures += 1 }
        if !entry.isInterrupted { durations.append(entry.timings.total) }
        if entry.isFromStore { fromStore += 1 }
        let request = entry.request
        let sent = request.bodyBytes >= 0 ? request.bodyBytes : max(request.body?.size ?? 0, 0)
        bytesSent = bytesSent.adding(sent).adding(max(request.headBytes, 0))
        guard let response = entry.response, response.status > 0 else { return }
        if response.status >= 400 { errorStatuses += 1 }
        if !response.redirectURL.isEmpty { redirects += 1 }
        guard !entry.isFromStore else { return }
        fromServer += 1
        if entry.timings.connect ?? .zero == .zero { reused += 1 }
        let received = response.bodyBytes >= 0 ? response.bodyBytes : max(response.body.size, 0)
        bytesReceived = bytesReceived.adding(received).adding(max(response.headBytes, 0))
    }
}

extension LogEntry {
    /// Whether there is no complete response.
    package var failed: Bool {
        error != nil || isInterrupted || response.map { $0.status <= 0 } ?? true
    }
}

extension Int64 {
    /// Returns the sum, or the maximum if it overflows, because an archive may contain any number.
    func adding(_ other: Int64) -> Int64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
