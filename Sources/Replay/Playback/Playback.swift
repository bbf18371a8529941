import BeagleNet
import BeagleNetHTTP

/// The playback of a recording: its entries by matching key, and the progress of each sequence of responses.
///
/// Equal requests receive the entries in the order of their calls of `take`. The order of concurrent calls is
/// undefined, but each entry is used once.
final class Playback: Sendable {
    /// The entries for equal requests, in order.
    private struct Sequence {
        var entries: [Int] = []
        var position = 0

        /// Returns the next entry; `nil` if all were used and none is repeated.
        mutating func next(_ repeats: ReplayTransport.Repeats) -> Int? {
            guard position < entries.count else { return nil }
            defer { advance(repeats) }
            return entries[position]
        }

        private mutating func advance(_ repeats: ReplayTransport.Repeats) {
            switch repeats {
            case .sequenceThenLast: position = min(position + 1, entries.count - 1)
            case .cycle: position = (position + 1) % entries.count
            case .sequenceThenFail: position += 1
            }
        }
    }

    private struct State {
        var sequences: [PartsKey: Sequence] = [:]
        var used: Set<Int> = []
    }

    /// The parts of an entry that are compared first to find the nearest one.
    fileprivate struct Head {
        let method: String
        let origin: String
        let path: String
    }

    private let entries: [LogEntry]
    /// The head of each entry; `nil` if the entry is not played.
    private let heads: [Head?]
    private let subjects: @Sendable (LogEntry) -> MatchSubject
    private let rules: [ReplayTransport.MatchRule]
    private let repeats: ReplayTransport.Repeats
    /// The sets of places without a recorded value, by method and path, the smallest set first. Only these have to be
    /// tried.
    private let unknown: [PartsKey: [[RequestPart.Place]]]
    private let state: Lock<State>

    /// Creates a playback.
    ///
    /// - Parameters:
    ///   - kind: the kind of entries that are played.
    ///   - subjects: converts an entry for the rules.
    init(
        _ entries: [LogEntry],
        _ kind: EntryKind = .messages,
        _ rules: [ReplayTransport.MatchRule],
        _ repeats: ReplayTransport.Repeats,
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

    /// Returns the entry that matches a request, and marks it as used.
    ///
    /// - Throws: `NetworkError` of kind `.notInRecording` if no entry matches.
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
            case .exhausted(let count): throw ReplayTransport.Miss(of: subject, exhausted: count).error
            }
        }
        throw ReplayTransport.Miss(of: subject, nearest: nearest(to: parts, subject)).error
    }

    private enum Found {
        case nothing, entry(Int), exhausted(Int)
    }

    /// The entries that were not used, except for responses from a store.
    var unused: [LogEntry] { unusedPlaces.map { entries[$0] } }

    /// The indices of the unused entries.
    var unusedPlaces: [Int] {
        let used = state.withLock { $0.used }
        return entries.indices.filter { !used.contains($0) && heads[$0] != nil && !entries[$0].isFromStore }
    }
}

/// The kind of entries that are played: requests with their responses, or WebSockets.
enum EntryKind {
    case messages, webSockets
}

extension LogEntry {
    /// Whether the entry is the handshake of a WebSocket.
    fileprivate var isWebSocket: Bool {
        response?.status == 101 || request.url.hasPrefix("ws:") || request.url.hasPrefix("wss:")
    }
}

extension [RequestPart] {
    /// The key of the bucket in which entries are searched, by method and path.
    fileprivate var bucket: PartsKey {
        key { $0.section == .method || $0.section == .path }
    }
}

// MARK: - Nearest entries

extension Playback {
    /// The maximum number of entries that are compared in detail.
    private static let candidateLimit = 64
    /// The maximum number of entries in the report of a miss.
    private static let nearLimit = 3

    /// Returns the entries with the fewest differences. Those with another path or method come last.
    private func nearest(to parts: [RequestPart], _ subject: MatchSubject) -> [ReplayTransport.Miss.Near] {
        let near = candidates(for: subject).map { index in
            let recorded = subjects(entries[index])
            let differences = rules.parts(of: recorded).differences(from: parts)
            return ReplayTransport.Miss.Near(entries[index].id, recorded, differences)
        }
        let ordered = near.enumerated().sorted { one, other in
            (one.element.differences.count, one.offset) < (other.element.differences.count, other.offset)
        }
        return ordered.prefix(Self.nearLimit).map(\.element)
    }

    /// Returns the entries with the closest heads, the closest first.
    private func candidates(for subject: MatchSubject) -> [Int] {
        var best: [(index: Int, score: Int)] = []
        for (index, head) in heads.enumerated() {
            guard let head else { continue }
            let score = head.similarity(to: subject)
            guard score > 0, best.count < Self.candidateLimit || score > best[best.count - 1].score else { continue }
            let place = best.lastIndex { $0.score >= score }.map { $0 + 1 } ?? 0
            best.insert((index, score), at: place)
            if best.count > Self.candidateLimit { best.removeLast() }
        }
        return best.map(\.index)
    }
}

extension Playback.Head {
    /// Returns a score that depends most on the number of common path segments; 0 if the paths have nothing in common.
    fileprivate func similarity(to subject: MatchSubject) -> Int {
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
