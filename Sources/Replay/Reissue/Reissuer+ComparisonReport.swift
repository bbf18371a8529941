public import BeagleNet

extension Reissuer {
    /// The result for an entry that was to be sent again.
    public struct Entry: Sendable {
        /// The outcome of sending an entry again.
        public enum Outcome: Sendable {
            /// The response matches the recorded one; the notes name parts that could not be compared.
            case same(notes: [String])
            /// The status and header fields match, but the body could not be compared, for this reason.
            case unchecked(String)
            /// The response differs.
            case different(ComparisonRules.Differences)
            /// There was no response.
            case failed(NetworkError)
            /// The request was not sent, for this reason.
            case skipped(String)
        }

        /// The index of the entry in the recording, starting at 0.
        public var entry: Int
        /// The number of the repetition, starting at 1.
        public var repetition = 1
        /// The id of the entry; empty if the recording has none.
        public var id: String
        /// The method.
        public var method: String
        /// The URL of the request, without secrets.
        public var url: String
        /// The kind of operation that the app requested: the name of a `NetworkOperation.Kind`; `nil` if the recording
        /// has none.
        public var kind: String?
        /// The time from the scheduled start of the request to the end of the response; zero if it was not sent.
        public var latency = Duration.zero
        /// The outcome of the request.
        public var outcome = Outcome.skipped("")

        init(entry: Int, id: String, method: String, url: String, kind: String?) {
            self.entry = entry
            self.id = id
            self.method = method
            self.url = url
            self.kind = kind
        }
    }
}

extension Reissuer {
    /// The report of sending a recording again, which states for each entry whether its response matches the recorded
    /// one.
    public struct ComparisonReport: Sendable {
        /// The entries in the order of the recording, with one element for each repetition.
        public let entries: [Entry]
        /// The number of responses that match the recorded ones.
        public let same: Int
        /// The number of responses that match except for a body that could not be compared.
        public let unchecked: Int
        /// The number of responses that differ.
        public let different: Int
        /// The number of requests without a response.
        public let failed: Int
        /// The number of entries that were not sent.
        public let skipped: Int

        init(_ entries: [Entry]) {
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

        /// Whether responses were received and compared for all sent requests, at least one, and none differs.
        public var isSame: Bool { same > 0 && unchecked == 0 && different == 0 && failed == 0 }

        /// The error of the first request without a response.
        public var error: NetworkError? {
            entries.lazy.compactMap { entry in
                if case .failed(let error) = entry.outcome { error } else { nil }
            }.first
        }

        /// A summary such as `3 same, 1 different, 0 failed, 2 skipped`, with `4 unchecked` if there are any.
        public var summary: String {
            let unchecked = unchecked > 0 ? "\(unchecked) unchecked, " : ""
            return "\(same) same, \(unchecked)\(different) different, \(failed) failed, \(skipped) skipped"
        }
    }
}

// MARK: - Text

extension Reissuer.ComparisonReport: CustomStringConvertible {
    /// A line for each entry that doesn't match, followed by its differences, and finally the summary.
    public var description: String {
        (entries.flatMap(\.lines) + [summary]).joined(separator: "\n")
    }
}

extension Reissuer.Entry {
    /// The method and the URL, `GET https://HOST/PATH`, with the number of the repetition if it is not the first.
    var title: String { "\(method) \(url)" + (repetition > 1 ? " (turn \(repetition))" : "") }

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

extension ComparisonRules.Differences {
    /// The differences and notes, one per line.
    var lines: [String] {
        list.map(\.description) + (omittedCount > 0 ? ["and \(omittedCount) more"] : []) + notes
    }
}

extension NetworkError {
    /// The message with kind, phase and advice, but without the request, which the report already contains.
    var sentence: String { "\(message) [\(kind.rawValue), \(phase.rawValue)]" + (advice.map { "; \($0)" } ?? "") }
}
