import BeagleNet

/// Something in a request that a rule looks at: two requests are the same where their parts are.
struct RequestPart: Sendable, Hashable {
    /// Where it stands.
    struct Place: Sendable, Hashable {
        enum Section: Int, Sendable {
            case method, origin, path, query, header, kind, custom, body
        }

        let section: Section
        /// The item's name; of a JSON body the path in it, as `$.user.name`. Empty for all of the section.
        var name = ""

        /// Whether what stands there is a part of this.
        func holds(_ other: Place) -> Bool {
            guard section == other.section else { return false }
            if name == other.name || name.isEmpty { return true }
            guard section == .body, name.utf8.first == UInt8(ascii: "$"), other.name.hasPrefix(name) else {
                return false
            }
            return [UInt8(ascii: "."), UInt8(ascii: "[")].contains(other.name.utf8.dropFirst(name.utf8.count).first)
        }
    }

    /// What stands there.
    enum Value: Sendable, Hashable {
        case text(String)
        /// Bytes by their hash.
        case bytes(UInt64, UInt64, count: Int)
        /// Nobody knows: it was redacted or not kept, so that anything is the same.
        case any
    }

    let place: Place
    let value: Value

    init(_ section: Place.Section, _ name: String = "", _ value: Value) {
        place = Place(section: section, name: name)
        self.value = value
    }

    /// Text, of which a secret says nothing.
    init(_ section: Place.Section, _ name: String = "", _ text: String) {
        self.init(section, name, text.isRedacted ? .any : .text(text))
    }
}

extension RequestPart.Place: CustomStringConvertible, Comparable {
    var description: String {
        let word = section == .custom ? "" : "\(section)"
        return [word, name].filter { !$0.isEmpty }.joined(separator: " ")
    }

    static func < (one: Self, other: Self) -> Bool {
        one.section == other.section ? one.name < other.name : one.section.rawValue < other.section.rawValue
    }
}

extension String {
    /// Whether it is what a redactor writes in place of a secret.
    var isRedacted: Bool {
        hasPrefix(Redactor.placeholder) && (self == Redactor.placeholder || hasPrefix(Self.hashed))
    }

    private static let hashed = "\(Redactor.placeholder):h:"
}

extension [RequestPart] {
    /// In one order, whatever the order in which a request has them; of one place they stay in theirs.
    func ordered() -> [RequestPart] {
        // The sort is stable.
        sorted { $0.place < $1.place }
    }

    /// The places of which nothing is known.
    var unknown: [RequestPart.Place] {
        var places: [RequestPart.Place] = []
        for part in self where part.value == .any && !places.contains(part.place) { places.append(part.place) }
        return places
    }

    /// A hash of the parts whose places fit.
    func key(where fits: (RequestPart.Place) -> Bool) -> PartsKey {
        PartsKey { hash in
            for part in self where fits(part.place) { hash.combine(part) }
        }
    }

    /// A hash under which requests are the same: of the unknown places it says only whether there is something.
    func key(but unknown: [RequestPart.Place]) -> PartsKey {
        PartsKey { hash in
            for part in self where !unknown.contains(where: { $0.holds(part.place) }) { hash.combine(part) }
            for place in unknown where contains(where: { place.holds($0.place) }) {
                hash.combine(RequestPart(place.section, place.name, RequestPart.Value.any))
            }
        }
    }
}

/// What tells requests apart, in 128 bits: see `KeyHash`.
struct PartsKey: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    init(_ body: (inout KeyHash) -> Void) {
        (high, low) = KeyHash.of(body)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(low)
    }
}

extension KeyHash {
    fileprivate mutating func combine(_ part: RequestPart) {
        combine(part.place.section.rawValue)
        combine(part.place.name)
        switch part.value {
        case .text(let text):
            combine(1)
            combine(text)
        case .bytes(let high, let low, let count):
            combine(2)
            combine(Int(truncatingIfNeeded: high))
            combine(Int(truncatingIfNeeded: low))
            combine(count)
        case .any: combine(3)
        }
    }
}
