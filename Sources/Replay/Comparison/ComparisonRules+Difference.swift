extension ComparisonRules {
    /// A difference between a received response and the recorded one.
    public struct Difference: Sendable, Hashable {
        /// The kind of a difference.
        public enum Kind: String, Sendable, Hashable {
            /// The value was not recorded.
            case added
            /// The value was recorded, but is missing now.
            case removed
            /// The value has changed.
            case changed
            /// The value has another type, such as a string instead of a number.
            case type
            /// The value has another position in its array.
            ///
            /// Changes in it are reported separately.
            case moved
        }

        /// The place of the difference: `status`, `headers.Content-Type`, a JSON path such as `$.items[2].price`, `body
        /// line 7`.
        ///
        /// Elements that were matched by a key have it instead of an index: `$.items[id=7].price`,
        /// `$.children[text#title].text`.
        public var place: String
        /// The kind of the difference.
        public var kind: Kind
        /// The recorded value, shortened and without secrets; `nil` if the value was added.
        public var before: String?
        /// The received value, shortened and without secrets; `nil` if the value was removed.
        public var after: String?

        /// Creates a difference.
        public init(_ kind: Kind, at place: String, before: String? = nil, after: String? = nil) {
            self.place = place
            self.kind = kind
            self.before = before
            self.after = after
        }
    }
}

extension ComparisonRules.Difference: CustomStringConvertible {
    /// The place, followed by the recorded and the received value: `$.price: 1 → 2`.
    public var description: String {
        switch kind {
        case .added: "\(place): added \(after ?? "")"
        case .removed: "\(place): removed \(before ?? "")"
        case .changed, .type: "\(place): \(before ?? "nothing") → \(after ?? "nothing")"
        case .moved: "\(place): moved from \(before ?? "?") to \(after ?? "?")"
        }
    }
}

extension ComparisonRules {
    /// The result of a comparison.
    public struct Differences: Sendable, Hashable {
        /// The first differences, in the order of the recording.
        public private(set) var list: [Difference] = []
        /// The number of differences that are not in `list`.
        public private(set) var omittedCount = 0
        /// The sentences that state which parts were not compared, and why.
        public internal(set) var notes: [String] = []
        /// The sentence from `notes` about bodies that were not compared; `nil` if they were, or if a body wasn't
        /// expected.
        public internal(set) var missingBody: String?
        private let limit: Int

        /// Creates an empty result.
        ///
        /// - Parameter limit: the maximum number of differences in `list`.
        init(limit: Int) {
            self.limit = limit
        }

        /// Whether there are no differences.
        public var isEmpty: Bool { list.isEmpty && omittedCount == 0 }

        /// The number of differences.
        public var count: Int { list.count + omittedCount }

        mutating func append(_ difference: @autoclosure () -> Difference) {
            if list.count < limit { list.append(difference()) } else { omittedCount += 1 }
        }
    }
}
