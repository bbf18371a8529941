import BeagleNet
import BeagleNetHTTP

/// Changes deep inside a value. Each container is taken out of its place while it is changed, so that it has one owner
/// and is not copied: what comes piece by piece costs as much as the pieces are large.
extension JSONValue {
    typealias Path = [GraphQLError.PathElement]

    /// Changes what is at a place.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` where there is no such place, or what `body` throws.
    mutating func change(
        at path: Path.SubSequence,
        _ body: (inout JSONValue) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        guard let step = path.first else { return try body(&self) }
        switch step {
        case .key(let key):
            guard case .object(var members) = self, let index = members.index(forKey: key) else {
                throw .unplaced(path)
            }
            self = .null
            defer { self = .object(members) }
            try members.values[index].change(at: path.dropFirst(), body)
        case .index(let index):
            guard case .array(var elements) = self, elements.indices.contains(index) else { throw .unplaced(path) }
            self = .null
            defer { self = .array(elements) }
            try elements[index].change(at: path.dropFirst(), body)
        }
    }

    /// What is at a place; nil where there is none.
    func value(at path: Path) -> JSONValue? {
        path.reduce(Optional(self)) { value, step in
            switch step {
            case .key(let key): value?[key]
            case .index(let index): value?[index]
            }
        }
    }

    /// Puts elements into a list.
    ///
    /// - Parameter start: where the first of them goes, in the place of what is there; at the end where nil.
    /// - Returns: where the first of them went; nil where this is no list, or one that ends before `start`.
    mutating func put(_ added: [JSONValue], from start: Int?) -> Int? {
        guard case .array(var elements) = self else { return nil }
        let start = start ?? elements.count
        guard start <= elements.count else { return nil }
        self = .null
        let replaced = min(added.count, elements.count - start)
        elements.replaceSubrange(start..<(start + replaced), with: added)
        self = .array(elements)
        return start
    }

    /// Adds the members of objects and what is at the same places in lists; all else takes the place of what was there.
    mutating func merge(_ added: JSONValue) {
        if case .object(let added) = added, case .object(var members) = self {
            self = .null
            for (name, value) in added {
                if let index = members.index(forKey: name) {
                    members.values[index].merge(value)
                } else {
                    members[name] = value
                }
            }
            self = .object(members)
        } else if case .array(let added) = added, case .array(var elements) = self {
            self = .null
            for (index, value) in added.prefix(elements.count).enumerated() { elements[index].merge(value) }
            elements += added.dropFirst(elements.count)
            self = .array(elements)
        } else {
            self = added
        }
    }

    /// Whether it has no more than so many containers inside each other.
    func isFlat(within limit: Int) -> Bool {
        switch self {
        case .array(let elements): limit > 0 && elements.allSatisfy { $0.isFlat(within: limit - 1) }
        case .object(let members): limit > 0 && members.values.allSatisfy { $0.isFlat(within: limit - 1) }
        default: true
        }
    }
}

extension NetworkError {
    /// A payload for a place that the response does not have.
    fileprivate static func unplaced(_ rest: JSONValue.Path.SubSequence) -> NetworkError {
        .payload("cannot merge a payload: the response has no \(rest.map(\.description).joined(separator: "."))")
    }

    /// A payload that cannot be understood, or belongs nowhere.
    static func payload(_ what: String) -> NetworkError {
        NetworkError(.decoding, during: .decode, what)
    }
}
