public import BeagleNet

/// What became of an entry that was to be sent again.
public struct ReissuedEntry: Sendable {
    /// What came of it.
    public enum Outcome: Sendable {
        /// The answer is what was recorded; the notes tell what there was not to compare.
        case same(notes: [String])
        /// Status and header fields are what was recorded; the body could not be compared, for this reason.
        case unchecked(String)
        /// The answer differs.
        case different(Differences)
        /// There was no answer.
        case failed(NetworkError)
        /// It was not sent, for this reason.
        case skipped(String)
    }

    /// The place of the entry in the recording, from 0.
    public var entry: Int
    /// Which repetition it is, from 1.
    public var turn = 1
    /// The id of the entry; empty where the recording has none.
    public var id: String
    /// The method.
    public var method: String
    /// The URL that was asked, without secrets.
    public var url: String
    /// What the app had asked: the name of a `NetworkOperation.Kind`; nil where the recording does not say.
    public var kind: String?
    /// From when it should have gone out until the whole answer had come; zero where it was not sent.
    public var latency = Duration.zero
    /// What came of it.
    public var outcome = Outcome.skipped("")

    init(entry: Int, id: String, method: String, url: String, kind: String?) {
        self.entry = entry
        self.id = id
        self.method = method
        self.url = url
        self.kind = kind
    }
}

/// What came of sending a recording again: for each entry whether its answer is what was recorded.
public struct ComparisonReport: Sendable {
    /// The entries in the order of the recording; of one that was sent several times each turn.
    public let entries: [ReissuedEntry]
    /// How many answers are what was recorded.
    public let same: Int
    /// How many answers are what was recorded but for a body that could not be compared.
    public let unchecked: Int
    /// How many answers differ.
    public let different: Int
    /// How many had no answer.
    public let failed: Int
    /// How many were not sent.
    public let skipped: Int

    init(_ entries: [ReissuedEntry]) {
        self.entries = entries
        var counts = (same: 0, unchecked: 0, different: 0, failed: 0, skipped: 0)
        for entry in entries {
            switch entry.outcome {
            case .same: counts.same += 1
            case .unchecked: counts.unchecked += 1
            case .different: counts.different += 1
            case .failed: counts.failed += 1
            case .skipped: counts.skipped += 1
            }
        }
        (same, unchecked, different, failed, skipped) = counts
    }

    /// Whether something was compared, all answers came and were compared, and none differs.
    public var isSame: Bool { same > 0 && unchecked == 0 && different == 0 && failed == 0 }

    /// Why the first of those that had no answer had none.
    public var error: NetworkError? {
        entries.lazy.compactMap { entry in
            if case .failed(let error) = entry.outcome { error } else { nil }
        }.first
    }

    /// `3 same, 1 different, 0 failed, 2 skipped`, and `4 unchecked` where there are such.
    public var summary: String {
        let unchecked = unchecked > 0 ? "\(unchecked) unchecked, " : ""
        return "\(same) same, \(unchecked)\(different) different, \(failed) failed, \(skipped) skipped"
    }
}

// MARK: - Text

extension ComparisonReport: CustomStringConvertible {
    /// A line for each entry that is not the same, with its differences below it, and how many there are of each.
    public var description: String {
        (entries.flatMap(\.lines) + [summary]).joined(separator: "\n")
    }
}

extension ReissuedEntry {
    /// `GET https://HOST/PATH`, and which turn where there are several.
    var title: String { "\(method) \(url)" + (turn > 1 ? " (turn \(turn))" : "") }

    fileprivate var lines: [String] {
        switch outcome {
        case .same(let notes): notes.isEmpty ? [] : ["same       \(title)"] + notes.map { "  \($0)" }
        case .unchecked(let reason): ["unchecked  \(title)", "  \(reason)"]
        case .different(let differences): ["different  \(title)"] + differences.lines.map { "  \($0)" }
        case .failed(let error): ["failed     \(title)", "  \(error.sentence)"]
        case .skipped(let reason): ["skipped    \(title)", "  \(reason)"]
        }
    }
}

extension Differences {
    /// Each difference and note in a line.
    var lines: [String] {
        list.map(\.description) + (further > 0 ? ["and \(further) more"] : []) + notes
    }
}

extension NetworkError {
    /// What failed and how, without the request, which a report names itself.
    var sentence: String { "\(message) [\(kind.rawValue), \(phase.rawValue)]" + (advice.map { "; \($0)" } ?? "") }
}
