import BeagleNet

/// A part of a request that a rule selects. Two requests match if their parts are equal.
struct RequestPart: Sendable, Hashable {
    /// The place of a part in a request.
    struct Place: Sendable, Hashable {
        enum Section: Int, Sendable {
            case method, origin, path, query, header, kind, custom, body
        }

        let section: Section
        /// The item's name; in a JSON body, the path, such as `$.user.name`. Empty for the whole section.
        var name = ""

        /// Returns whether another place is within this one.
        func holds(_ other: Place) -> Bool {
            guard section == other.section else { return false }
            if name == other.name || name.isEmpty { return true }
            guard section == .body, name.utf8.first == UInt8(ascii: "$"), other.name.hasPrefix(name) else {
                return false
            }
            return [UInt8(ascii: "."), UInt8(ascii: "[")].contains(other.name.utf8.dropFirst(name.utf8.count).first)
        }
    }

    /// The value of a part.
    enum Value: Sendable, Hashable {
        case text(String)
        /// The hash and the number of bytes.
        case bytes(UInt64, UInt64, count: Int)
        /// An unknown value that was redacted or not stored, and matches anything.
        case any
    }

    let place: Place
    let value: Value

    init(_ section: Place.Section, _ name: String = "", _ value: Value) {
        place = Place(section: section, name: name)
        self.value = value
    }

    /// Creates a part from text; redacted text matches anything.
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
    /// Whether the text is a placeholder for a secret.
    var isRedacted: Bool {
        hasPrefix(Redactor.placeholder) && (self == Redactor.placeholder || hasPrefix(Self.hashed))
    }

    private static let hashed = "\(Redactor.placeholder):h:"
}

extension [RequestPart] {
    /// Returns the parts sorted by place. Parts of the same place keep their order.
    func ordered() -> [RequestPart] {
        sorted { $0.place < $1.place }
    }

    /// The places with unknown values.
    var unknown: [RequestPart.Place] {
        var places: [RequestPart.Place] = []
        for part in self where part.value == .any && !places.contains(part.place) { places.append(part.place) }
        return places
    }

    /// Returns a hash of the parts in certain places.
    func key(where fits: (RequestPart.Place) -> Bool) -> PartsKey {
        PartsKey { hash in
            for part in self where fits(part.place) { hash.combine(part) }
        }
    }

    /// Returns a hash that is equal for matching requests. For unknown places, it contains only whether they have a
    /// value.
    func key(but unknown: [RequestPart.Place]) -> PartsKey {
        PartsKey { hash in
            for part in self where !unknown.contains(where: { $0.holds(part.place) }) { hash.combine(part) }
            for place in unknown where contains(where: { place.holds($0.place) }) {
                hash.combine(RequestPart(place.section, place.name, RequestPart.Value.any))
            }
        }
    }
}

/// A 128-bit key for requests; see `KeyHash`.
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
