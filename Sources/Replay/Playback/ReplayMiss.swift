import BeagleNet

/// Why a recording has no answer to a request, or to a message of a WebSocket: `underlying` of an error of kind
/// `.notInRecording`. It holds no secrets.
public struct ReplayMiss: Error, Sendable, Hashable {
    /// An entry of the recording that is not the one.
    public struct Near: Sendable, Hashable {
        /// Its `id`; empty where an archive gives none.
        public let id: String
        /// Its method and URL.
        public let request: String
        /// From what is recorded to what was asked, by places: `method`, `path`, `query page`, `header accept`,
        /// `body $.user.name`.
        public let differences: [Difference]
    }

    /// Method and URL of what was asked; of a message of a WebSocket which one it is.
    public let request: String
    /// The entries that differ least, at most three, the nearest first.
    public let nearest: [Near]
    /// How many answers to this very request there were, all of which were given (`ReplayRepeats.sequenceThenFail`); 0
    /// where there was none.
    public let exhausted: Int
    /// What was asked, in a word.
    private let noun: String
}

extension ReplayMiss.Near: CustomStringConvertible {
    init(_ id: String, _ subject: MatchSubject, _ differences: [Difference]) {
        self.id = id
        request = subject.title
        self.differences = differences
    }

    /// Method, URL and what differs.
    public var description: String {
        let shown = differences.prefix(5).map(\.description)
        let more = differences.count - shown.count
        let list = (shown + (more > 0 ? ["\(more) more"] : [])).joined(separator: ", ")
        return "\(request) (\(list))"
    }
}

extension ReplayMiss: CustomStringConvertible {
    init(of subject: MatchSubject, nearest: [Near] = [], exhausted: Int = 0) {
        request = subject.title
        self.nearest = nearest
        self.exhausted = exhausted
        noun = "request"
    }

    /// - Parameters:
    ///   - number: of a message of a WebSocket among those sent, from 1.
    ///   - subject: what opened it.
    ///   - nearest: what the recording has in its place.
    init(ofMessage number: Int, to subject: MatchSubject, nearest: [Near]) {
        request = "message \(number) to \(subject.url.origin)\(subject.url.path)"
        self.nearest = nearest
        exhausted = 0
        noun = "message"
    }

    /// What is missing, and what is nearest, in a line each.
    public var description: String {
        (["\(request): \(reason)"] + nearest.map { "  nearest: \($0)" }).joined(separator: "\n")
    }

    /// What is missing, in a sentence without what is nearest.
    package var reason: String {
        exhausted > 0
            ? "the recording has no more responses to this \(noun): all \(exhausted) were used"
            : "the recording has no response to this \(noun)"
    }

    /// The error of a request that it is the reason of.
    var error: NetworkError {
        NetworkError(
            .notInRecording,
            during: .queue,
            nearest.first.map { "\(reason); the nearest is \($0)" } ?? reason,
            advice: exhausted > 0 ? "let responses repeat (ReplayRepeats)" : "record it, or match fewer of its parts",
            underlying: self
        )
    }
}

extension [RequestPart] {
    /// Where another request is not as this one, by places in order.
    func differences(from asked: [RequestPart]) -> [Difference] {
        let unknown = self.unknown
        let (own, others) = (grouped(but: unknown), asked.grouped(but: unknown))
        var differences = Set(own.keys).union(others.keys).sorted().compactMap { place -> Difference? in
            let (one, other) = (own[place], others[place])
            guard one != other else { return nil }
            let kind = one == nil ? Difference.Kind.added : other == nil ? .removed : .changed
            return Difference(kind, at: "\(place)", before: one?.shown, after: other?.shown)
        }
        for place in unknown where !asked.contains(where: { place.holds($0.place) }) {
            differences.append(Difference(.removed, at: "\(place)", before: Redactor.placeholder))
        }
        return differences
    }

    /// The values of each place, those apart of which nothing is known.
    private func grouped(but unknown: [RequestPart.Place]) -> [RequestPart.Place: [RequestPart.Value]] {
        let known = filter { part in !unknown.contains { $0.holds(part.place) } }
        return Dictionary(grouping: known, by: \.place).mapValues { $0.map(\.value) }
    }
}

extension [RequestPart.Value] {
    fileprivate var shown: String { map(\.shown).joined(separator: ", ") }
}

extension RequestPart.Value {
    /// The value in few words.
    fileprivate var shown: String {
        switch self {
        case .text(let text): ShownText(redactor: Redactor()).text(text)
        case .bytes(_, _, let count): "\(count) byte\(count == 1 ? "" : "s")"
        case .any: Redactor.placeholder
        }
    }
}
