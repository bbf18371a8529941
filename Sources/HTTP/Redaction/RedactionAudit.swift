/// What was redacted, as places: never how long it was, or what.
///
/// A place is what the caller called it (`request.headers`, `postData.text`, by HAR's words), for a field followed by `.`
/// and its name, and then, behind a colon each, the way to the secret:
///
/// | way | what |
/// |---|---|
/// | `$.user.password`, `$.cards[*]` | a JSON value; `[*]` is any element of an array |
/// | `?token`, `#id_token` | an item of a query, of a fragment |
/// | `user` | user name and password of a URL |
/// | `=password` | an item of a form, a pair or field in text, a parameter of a field |
/// | `(password)` | an argument of a GraphQL document |
/// | `part password` | a part of a multipart body |
/// | `<JWT>`, `<card>`, … | what is known by its look |
///
/// `postData.text:$.next:?token` is the `token` in the query of a URL, which is the member `next` of a JSON document.
/// A place is told once, however many secrets there are.
public struct RedactionAudit: Sendable, Hashable {
    /// The places, in the order in which they were found first.
    public private(set) var places: [String] = []
    /// `true` if places are missing because there are more than 1,000 or part of the text is unreadable.
    public private(set) var isCut = false

    private static let limit = 1_000
    /// The places, where they are more than are quickly looked through.
    private var known: Set<String> = []
    private static let few = 16

    /// An audit in which nothing is noted yet.
    public init() {}

    mutating func note(_ place: String) {
        if known.isEmpty ? places.contains(place) : known.contains(place) { return }
        guard places.count < Self.limit else {
            isCut = true
            return
        }
        places.append(place)
        if places.count == Self.few { known = Set(places) } else if !known.isEmpty { known.insert(place) }
    }

    /// Takes over what another found.
    mutating func note(_ other: RedactionAudit) {
        for place in other.places { note(place) }
        if other.isCut { cut() }
    }

    /// Some places are not told.
    mutating func cut() { isCut = true }

    mutating func note(_ edits: [RedactionEdit], at place: String) {
        // An edit without a way belongs to the one before.
        for edit in edits where !edit.way.isEmpty { note("\(place):\(edit.way)") }
    }
}

extension Redactor {
    /// A name as an audit may show it: not longer than 64 bytes, and without what is secret by its look.
    func shownName(_ name: ArraySlice<UInt8>, rules: TextScan.Rules = [], depth: Int = 0) -> [UInt8] {
        let name = Array(name.prefix(64))
        let all = 0..<name.count
        return name.applying(textEdits(name, in: all, rules: rules, depth: depth), in: all)
    }
}
