extension Redactor {
    /// The locations of redacted secrets, without their lengths or contents.
    ///
    /// A location begins with the caller's own name for the data (`request.headers`, or `postData.text` as in HAR). For
    /// a header field, `.` and the name of the field follow. Then the path to the secret follows, each step after a
    /// colon:
    ///
    /// | step | meaning |
    /// |---|---|
    /// | `$.user.password`, `$.cards[*]` | a JSON value; `[*]` is any element of an array |
    /// | `?token`, `#id_token` | an item of a query or fragment |
    /// | `user` | the user name and password of a URL |
    /// | `=password` | an item of a form, a pair or header field in text, or a parameter of a header field |
    /// | `(password)` | an argument of a GraphQL document |
    /// | `part password` | a part of a multipart body |
    /// | `<JWT>`, `<card>`, … | a secret with a known format |
    ///
    /// `postData.text:$.next:?token` is the `token` in the query of a URL, which is the member `next` of a JSON text. A
    /// location is listed once, regardless of the number of secrets there.
    public struct Audit: Sendable, Hashable {
        /// The locations, in the order in which they were first found.
        public private(set) var places: [String] = []
        /// Whether locations are missing, because there are more than 1,000 or part of the text is unreadable.
        public private(set) var isTruncated = false

        private static let limit = 1_000
        /// The locations as a set, once there are too many for a linear search.
        private var known: Set<String> = []
        private static let few = 16

        /// Creates an empty audit.
        public init() {}

        mutating func record(_ place: String) {
            if known.isEmpty ? places.contains(place) : known.contains(place) { return }
            guard places.count < Self.limit else {
                isTruncated = true
                return
            }
            places.append(place)
            if places.count == Self.few { known = Set(places) } else if !known.isEmpty { known.insert(place) }
        }

        /// Adds the locations of another audit.
        mutating func record(_ other: Audit) {
            for place in other.places { record(place) }
            if other.isTruncated { markTruncated() }
        }

        /// Notes that locations are missing.
        mutating func markTruncated() { isTruncated = true }

        mutating func record(_ edits: [RedactionEdit], at place: String) {
            // An edit without a path belongs to the one before it.
            for edit in edits where !edit.path.isEmpty { record("\(place):\(edit.path)") }
        }
    }
}

extension Redactor {
    /// Returns a name in a form that an audit may show: at most 64 bytes, with secrets of known formats redacted.
    func redactedName(_ name: ArraySlice<UInt8>, rules: TextScan.Rules = [], depth: Int = 0) -> [UInt8] {
        let name = Array(name.prefix(64))
        let all = 0..<name.count
        return name.applying(textEdits(name, in: all, rules: rules, depth: depth), in: all)
    }
}
