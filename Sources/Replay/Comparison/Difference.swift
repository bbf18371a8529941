/// Something in which an answer is not what was recorded.
public struct Difference: Sendable, Hashable {
    /// What happened to it.
    public enum Kind: String, Sendable, Hashable {
        /// It was not recorded.
        case added
        /// It was recorded, and is no longer there.
        case removed
        /// It has another value.
        case changed
        /// It has a value of another kind, as text instead of a number.
        case type
        /// It stands elsewhere in its array, and is counted here for that alone.
        case moved
    }

    /// Where: `status`, `headers.Content-Type`, a place in JSON as `$.items[2].price`, `body line 7`.
    ///
    /// What was matched by more than its index says by what: `$.items[id=7].price`, `$.children[text#title].text`.
    public var place: String
    /// What happened.
    public var kind: Kind
    /// What was recorded, shortened and without secrets; nil where nothing was.
    public var before: String?
    /// What there is now, shortened and without secrets; nil where there is nothing.
    public var after: String?

    /// Describes a difference.
    public init(_ kind: Kind, at place: String, before: String? = nil, after: String? = nil) {
        self.place = place
        self.kind = kind
        self.before = before
        self.after = after
    }
}

extension Difference: CustomStringConvertible {
    /// Place, and what became of what: `$.price: 1 → 2`.
    public var description: String {
        switch kind {
        case .added: "\(place): added \(after ?? "")"
        case .removed: "\(place): removed \(before ?? "")"
        case .changed, .type: "\(place): \(before ?? "nothing") → \(after ?? "nothing")"
        case .moved: "\(place): moved from \(before ?? "?") to \(after ?? "?")"
        }
    }
}

/// What a comparison has found.
public struct Differences: Sendable, Hashable {
    /// The first of them, in the order of what was recorded.
    public private(set) var list: [Difference] = []
    /// How many more there are than `list` has.
    public private(set) var further = 0
    /// What could not be compared, and why, as sentences.
    public internal(set) var notes: [String] = []
    /// Why the bodies were not compared, as a sentence that is in `notes` too; nil where they were, or where there was none to
    /// be had.
    public internal(set) var missingBody: String?
    private let limit: Int

    /// No differences.
    ///
    /// - Parameter limit: how many are kept.
    init(limit: Int) {
        self.limit = limit
    }

    /// Whether there are none.
    public var isEmpty: Bool { list.isEmpty && further == 0 }

    /// How many there are.
    public var count: Int { list.count + further }

    mutating func append(_ difference: @autoclosure () -> Difference) {
        if list.count < limit { list.append(difference()) } else { further += 1 }
    }
}
