import BeagleNet
import BeagleNetHTTP

/// The entries of a recording by what they answer, and how far each sequence of answers has come.
///
/// Equal requests get the entries in the order in which they call `take`. Who of several at the same time is first is
/// nobody's to say; together they get each entry once.
final class Playback: Sendable {
    /// The entries that answer requests which are the same.
    private struct Sequence {
        var entries: [Int] = []
        var given = 0

        /// nil where all were given, and none is given again.
        mutating func next(_ repeats: ReplayRepeats) -> Int? {
            guard given < entries.count else { return nil }
            defer { advance(repeats) }
            return entries[given]
        }

        private mutating func advance(_ repeats: ReplayRepeats) {
            switch repeats {
            case .sequenceThenLast: given = min(given + 1, entries.count - 1)
            case .cycle: given = (given + 1) % entries.count
            case .sequenceThenFail: given += 1
            }
        }
    }

    private struct State {
        var sequences: [PartsKey: Sequence] = [:]
        var used: Set<Int> = []
    }

    /// What a miss looks at first.
    fileprivate struct Head {
        let method: String
        let origin: String
        let path: String
    }

    private let entries: [LogEntry]
    /// nil where an entry answers nothing.
    private let heads: [Head?]
    private let subjects: @Sendable (LogEntry) -> MatchSubject
    private let rules: [MatchRule]
    private let repeats: ReplayRepeats
    /// Which places of entries nobody knows, by method and path, so that few have to be tried. Fewest first.
    private let unknown: [PartsKey: [[RequestPart.Place]]]
    private let state: Lock<State>

    /// - Parameters:
    ///   - kind: which entries answer anything.
    ///   - subjects: makes of an entry what rules look at.
    init(
        _ entries: [LogEntry],
        _ kind: PlayedKind = .messages,
        _ rules: [MatchRule],
        _ repeats: ReplayRepeats,
        subjects: @escaping @Sendable (LogEntry) -> MatchSubject
    ) {
        self.entries = entries
        self.rules = rules
        self.repeats = repeats
        self.subjects = subjects
        var (unknown, state) = ([PartsKey: Set<[RequestPart.Place]>](), State())
        heads = entries.enumerated().map { index, entry in
            guard entry.isWebSocket == (kind == .webSockets) else { return nil }
            let subject = subjects(entry)
            let parts = rules.parts(of: subject)
            let places = parts.unknown
            state.sequences[parts.key(but: places), default: Sequence()].entries.append(index)
            unknown[parts.bucket, default: []].insert(places)
            return Head(method: subject.request.method, origin: subject.url.origin, path: subject.url.path)
        }
        self.unknown = unknown.mapValues { lists in
            lists.sorted { $0.count == $1.count ? $0.lexicographicallyPrecedes($1) : $0.count < $1.count }
        }
        self.state = Lock(state)
    }

    /// The entry that answers a request, which then counts as used.
    ///
    /// - Throws: `NetworkError` of kind `.notInRecording`.
    func take(_ subject: MatchSubject) throws(NetworkError) -> (index: Int, entry: LogEntry) {
        let parts = rules.parts(of: subject)
        for places in unknown[parts.bucket] ?? [] {
            let key = parts.key(but: places)
            let found: Found = state.withLock { state in
                guard var sequence = state.sequences[key] else { return .nothing }
                guard let index = sequence.next(repeats) else { return .exhausted(sequence.entries.count) }
                state.sequences[key] = sequence
                state.used.insert(index)
                return .entry(index)
            }
            switch found {
            case .nothing: continue
            case .entry(let index): return (index, entries[index])
            case .exhausted(let count): throw ReplayMiss(of: subject, exhausted: count).error
            }
        }
        throw ReplayMiss(of: subject, nearest: nearest(to: parts, subject)).error
    }

    private enum Found {
        case nothing, entry(Int), exhausted(Int)
    }

    /// Entries that answered nothing; those apart that no server had to answer.
    var unused: [LogEntry] { unusedPlaces.map { entries[$0] } }

    /// Their places among the entries.
    var unusedPlaces: [Int] {
        let used = state.withLock { $0.used }
        return entries.indices.filter { !used.contains($0) && heads[$0] != nil && !entries[$0].isFromStore }
    }
}

/// What is played: messages with their answers, or the conversations of WebSockets.
enum PlayedKind {
    case messages, webSockets
}

extension LogEntry {
    /// Whether it is the beginning of a WebSocket, and no message with an answer.
    fileprivate var isWebSocket: Bool {
        response?.status == 101 || request.url.hasPrefix("ws:") || request.url.hasPrefix("wss:")
    }
}

extension [RequestPart] {
    /// What entries share among which those are looked for that have unknown places.
    fileprivate var bucket: PartsKey {
        key { $0.section == .method || $0.section == .path }
    }
}

// MARK: - What is nearest

extension Playback {
    /// Entries that are compared to the last detail: of many to one path these must do.
    private static let candidateLimit = 64
    /// Entries that a miss tells of.
    private static let nearLimit = 3

    /// The entries that differ least, those of another path or method only where there are no better.
    private func nearest(to parts: [RequestPart], _ subject: MatchSubject) -> [ReplayMiss.Near] {
        let near = candidates(for: subject).map { index in
            let recorded = subjects(entries[index])
            let differences = rules.parts(of: recorded).differences(from: parts)
            return ReplayMiss.Near(entries[index].id, recorded, differences)
        }
        let ordered = near.enumerated().sorted { one, other in
            (one.element.differences.count, one.offset) < (other.element.differences.count, other.offset)
        }
        return ordered.prefix(Self.nearLimit).map(\.element)
    }

    /// The entries whose heads are nearest, the nearest first.
    private func candidates(for subject: MatchSubject) -> [Int] {
        var best: [(index: Int, score: Int)] = []
        for (index, head) in heads.enumerated() {
            guard let head else { continue }
            let score = head.closeness(to: subject)
            guard score > 0, best.count < Self.candidateLimit || score > best[best.count - 1].score else { continue }
            let place = best.lastIndex { $0.score >= score }.map { $0 + 1 } ?? 0
            best.insert((index, score), at: place)
            if best.count > Self.candidateLimit { best.removeLast() }
        }
        return best.map(\.index)
    }
}

extension Playback.Head {
    /// How many segments of the path are the same counts most; 0 where nothing is.
    fileprivate func closeness(to subject: MatchSubject) -> Int {
        let isSamePath = path == subject.url.path
        let shared = isSamePath ? 0 : sharedSegments(with: subject.url.path)
        guard isSamePath || shared > 0 else { return 0 }
        return (isSamePath ? 1_000 : min(shared, 200) * 4) + (method == subject.request.method ? 2 : 0)
            + (origin == subject.url.origin ? 1 : 0)
    }

    private func sharedSegments(with other: String) -> Int {
        let slash = UInt8(ascii: "/")
        var shared = 0
        var (one, two) = (path.utf8.dropFirst().makeIterator(), other.utf8.dropFirst().makeIterator())
        while true {
            let (left, right) = (one.next(), two.next())
            let isEnd = (left == nil || left == slash) && (right == nil || right == slash)
            if isEnd { shared += 1 }
            guard left == right, left != nil else { return shared }
        }
    }
}
