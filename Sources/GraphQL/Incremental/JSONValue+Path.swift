import BeagleNet
import BeagleNetHTTP

/// Changes inside a nested value. Each container is moved out of its place while it is changed, so that it has a single
/// owner and isn't copied: the cost of merging a part depends only on the size of the part.
extension JSONValue {
    typealias Path = [GraphQLError.PathElement]

    /// Changes the value at a path.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` if the path doesn't exist, and the errors of `body`.
    mutating func change(
        at path: Path.SubSequence,
        _ body: (inout JSONValue) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        guard let step = path.first else { return try body(&self) }
        switch step {
        case .key(let key):
            guard case .object(var members) = self, let index = members.index(forKey: key) else {
                throw .missingPath(path)
            }
            self = .null
            defer { self = .object(members) }
            try members.values[index].change(at: path.dropFirst(), body)
        case .index(let index):
            guard case .array(var elements) = self, elements.indices.contains(index) else { throw .missingPath(path) }
            self = .null
            defer { self = .array(elements) }
            try elements[index].change(at: path.dropFirst(), body)
        }
    }

    /// Returns the value at a path, or `nil` if the path doesn't exist.
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
    /// - Parameter start: The index of the first element, which overwrites existing elements, or `nil` to append.
    /// - Returns: The index of the first element, or `nil` if the value is not a list, or is a list that ends before
    ///   `start`.
    mutating func insert(_ added: [JSONValue], from start: Int?) -> Int? {
        guard case .array(var elements) = self else { return nil }
        let start = start ?? elements.count
        guard start <= elements.count else { return nil }
        self = .null
        let replaced = min(added.count, elements.count - start)
        elements.replaceSubrange(start..<(start + replaced), with: added)
        self = .array(elements)
        return start
    }

    /// Merges a value: adds the members of objects and merges the elements of lists by index. All other values are
    /// replaced.
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

    /// Returns whether the nesting depth is within a limit.
    func hasDepth(atMost limit: Int) -> Bool {
        switch self {
        case .array(let elements): limit > 0 && elements.allSatisfy { $0.hasDepth(atMost: limit - 1) }
        case .object(let members): limit > 0 && members.values.allSatisfy { $0.hasDepth(atMost: limit - 1) }
        default: true
        }
    }
}

extension NetworkError {
    /// Returns an error for a payload whose path doesn't exist in the response.
    fileprivate static func missingPath(_ rest: JSONValue.Path.SubSequence) -> NetworkError {
        .payload("cannot merge a payload: the response has no \(rest.map(\.description).joined(separator: "."))")
    }

    /// Returns an error for a payload that is invalid or has no place in the response.
    static func payload(_ what: String) -> NetworkError {
        NetworkError(.decoding, during: .decode, what)
    }
}
