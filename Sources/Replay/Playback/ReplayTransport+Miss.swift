import BeagleNet
import BeagleNetHTTP

extension ReplayTransport {
    /// The reason why a recording has no response to a request or to a message of a WebSocket, without secrets.
    ///
    /// It is the `underlying` error of an error of kind `.notInRecording`.
    public struct Miss: Error, Sendable, Hashable {
        /// An entry of the recording that is similar to the request.
        public struct Near: Sendable, Hashable {
            /// The entry's `id`; empty if an archive has none.
            public let id: String
            /// The entry's method and URL.
            public let request: String
            /// The differences between the recorded and the current request, with places such as `method`, `path`,
            /// `query page`, `header accept`, `body $.user.name`.
            public let differences: [ComparisonRules.Difference]
        }

        /// The method and URL of the request; for a message of a WebSocket, its number.
        public let request: String
        /// The entries with the fewest differences, at most three, the nearest first.
        public let nearest: [Near]
        /// The number of responses to an equal request if all were used (`ReplayTransport.Repeats.sequenceThenFail`);
        /// otherwise 0.
        public let exhausted: Int
        /// The word for the request in messages.
        private let noun: String
    }
}

extension ReplayTransport.Miss.Near: CustomStringConvertible {
    init(_ id: String, _ subject: MatchSubject, _ differences: [ComparisonRules.Difference]) {
        self.id = id
        request = subject.title
        self.differences = differences
    }

    /// The method, the URL and the differences.
    public var description: String {
        let shown = differences.prefix(5).map(\.description)
        let more = differences.count - shown.count
        let list = (shown + (more > 0 ? ["\(more) more"] : [])).joined(separator: ", ")
        return "\(request) (\(list))"
    }
}

extension ReplayTransport.Miss: CustomStringConvertible {
    init(of subject: MatchSubject, nearest: [Near] = [], exhausted: Int = 0) {
        request = subject.title
        self.nearest = nearest
        self.exhausted = exhausted
        noun = "request"
    }

    /// Creates a miss for a message of a WebSocket.
    ///
    /// - Parameters:
    ///   - number: the number of the message among those sent, starting at 1.
    ///   - subject: the request that opened the WebSocket.
    ///   - nearest: the recorded message in its place.
    init(ofMessage number: Int, to subject: MatchSubject, nearest: [Near]) {
        request = "message \(number) to \(subject.url.origin)\(subject.url.path)"
        self.nearest = nearest
        exhausted = 0
        noun = "message"
    }

    /// The reason and the nearest entries, one per line.
    public var description: String {
        (["\(request): \(reason)"] + nearest.map { "  nearest: \($0)" }).joined(separator: "\n")
    }

    /// The reason as a sentence, without the nearest entries.
    package var reason: String {
        exhausted > 0
            ? "the recording has no more responses to this \(noun): all \(exhausted) were used"
            : "the recording has no response to this \(noun)"
    }

    /// The error for a request.
    var error: NetworkError {
        NetworkError(
            .notInRecording,
            during: .queue,
            nearest.first.map { "\(reason); the nearest is \($0)" } ?? reason,
            advice: exhausted > 0
                ? "let responses repeat (ReplayTransport.Repeats)" : "record it, or match fewer of its parts",
            underlying: self
        )
    }
}

extension [RequestPart] {
    /// Returns the differences of another request from this one, ordered by place.
    func differences(from requested: [RequestPart]) -> [ComparisonRules.Difference] {
        let unknown = self.unknown
        let (own, others) = (grouped(but: unknown), requested.grouped(but: unknown))
        var differences = Set(own.keys).union(others.keys).sorted().compactMap { place -> ComparisonRules.Difference? in
            let (one, other) = (own[place], others[place])
            guard one != other else { return nil }
            let kind = one == nil ? ComparisonRules.Difference.Kind.added : other == nil ? .removed : .changed
            return ComparisonRules.Difference(kind, at: "\(place)", before: one?.shown, after: other?.shown)
        }
        for place in unknown where !requested.contains(where: { place.holds($0.place) }) {
            differences.append(ComparisonRules.Difference(.removed, at: "\(place)", before: Redactor.placeholder))
        }
        return differences
    }

    /// Returns the values of each place, except for places without a recorded value.
    private func grouped(but unknown: [RequestPart.Place]) -> [RequestPart.Place: [RequestPart.Value]] {
        let known = filter { part in !unknown.contains { $0.holds(part.place) } }
        return Dictionary(grouping: known, by: \.place).mapValues { $0.map(\.value) }
    }
}

extension [RequestPart.Value] {
    fileprivate var shown: String { map(\.shown).joined(separator: ", ") }
}

extension RequestPart.Value {
    /// A short form of the value.
    fileprivate var shown: String {
        switch self {
        case .text(let text): ReportFormatter(redactor: Redactor()).text(text)
        case .bytes(_, _, let count): counted(Int(count), "byte")
        case .any: Redactor.placeholder
        }
    }
}
