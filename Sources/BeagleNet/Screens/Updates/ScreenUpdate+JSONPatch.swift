public import BeagleNetHTTP

extension ScreenUpdate {
    /// A JSON Patch (RFC 6902): operations that are applied in order, all or none.
    public struct JSONPatch: Sendable, Hashable {
        private enum Operation: Sendable, Hashable {
            case add(JSONPointer, JSONValue)
            case remove(JSONPointer)
            case replace(JSONPointer, JSONValue)
            case move(from: JSONPointer, to: JSONPointer)
            case copy(from: JSONPointer, to: JSONPointer)
            case test(JSONPointer, JSONValue)
        }

        /// The maximum number of values that `copy` adds in one patch, so that a short patch can't make a huge
        /// document.
        private static let maxCopiedValues = 1_000_000

        private let operations: [Operation]

        /// Reads a patch.
        ///
        /// - Parameter value: An array of operations.
        /// - Throws: `NetworkError` of kind `.decoding` with the index of the first malformed operation.
        public init(_ value: JSONValue) throws(NetworkError) {
            guard case .array(let elements) = value else { throw .badUpdate("the JSON Patch is not an array") }
            var operations: [Operation] = []
            for (index, element) in elements.enumerated() {
                guard let operation = Self.operation(element) else {
                    throw .badUpdate("operation \(index) of the JSON Patch is malformed")
                }
                operations.append(operation)
            }
            self.operations = operations
        }

        private static func operation(_ value: JSONValue) -> Operation? {
            func pointer(_ name: String) -> JSONPointer? { value[name]?.string.flatMap { JSONPointer($0) } }
            guard let path = pointer("path") else { return nil }
            switch value["op"]?.string {
            case "add": return value["value"].map { .add(path, $0) }
            case "remove": return .remove(path)
            case "replace": return value["value"].map { .replace(path, $0) }
            case "move": return pointer("from").map { .move(from: $0, to: path) }
            case "copy": return pointer("from").map { .copy(from: $0, to: path) }
            case "test": return value["value"].map { .test(path, $0) }
            default: return nil
            }
        }

        /// Applies the patch.
        ///
        /// - Throws: `NetworkError` of kind `.decoding` with the index of the operation that can't be applied. The
        ///   document stays as it was.
        public func applied(to document: JSONValue) throws(NetworkError) -> JSONValue {
            var document = document
            var budget = Self.maxCopiedValues
            for (index, operation) in operations.enumerated() {
                if let problem = Self.apply(operation, to: &document, &budget) {
                    throw .badUpdate("operation \(index) of the JSON Patch can't be applied: \(problem)")
                }
            }
            return document
        }

        /// Applies an operation.
        ///
        /// - Returns: The reason why it can't be applied.
        private static func apply(_ operation: Operation, to document: inout JSONValue, _ budget: inout Int) -> String?
        {
            switch operation {
            case .add(let path, let value):
                guard value.fits(at: path) else { return "it nests too deep" }
                return document.set(value, at: path) ? nil : "its path doesn't exist"
            case .remove(let path): return document.remove(at: path) ? nil : "its path doesn't exist"
            case .replace(let path, let value):
                guard document.value(at: path) != nil else { return "its path doesn't exist" }
                guard value.fits(at: path) else { return "it nests too deep" }
                return document.set(value, at: path, replaces: true) ? nil : "its path doesn't exist"
            case .move(let from, let path):
                guard let value = document.value(at: from) else { return "its source doesn't exist" }
                if from == path { return nil }
                if from.contains(path) { return "its source contains its path" }
                guard value.fits(at: path) else { return "it nests too deep" }
                guard document.remove(at: from) else { return "its source can't be removed" }
                return document.set(value, at: path) ? nil : "its path doesn't exist"
            case .copy(let from, let path):
                guard let value = document.value(at: from) else { return "its source doesn't exist" }
                guard value.fits(at: path) else { return "it nests too deep" }
                value.count(&budget)
                guard budget >= 0 else { return "the patch copies too much" }
                return document.set(value, at: path) ? nil : "its path doesn't exist"
            case .test(let path, let value):
                guard let present = document.value(at: path) else { return "its path doesn't exist" }
                return present.isEqual(to: value) ? nil : "the value differs"
            }
        }
    }
}

extension JSONValue {
    /// The number of containers around the innermost value.
    private var depth: Int {
        switch self {
        case .array(let elements): 1 + (elements.lazy.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.values.lazy.map(\.depth).max() ?? 0)
        default: 0
        }
    }

    /// Whether the value at a place nests as deep as a parser accepts at most.
    fileprivate func fits(at pointer: JSONPointer) -> Bool { pointer.tokens.count + depth <= JSONValue.depthLimit }

    /// Throws an error if the value nests deeper than a parser accepts.
    func checkingDepth() throws(NetworkError) -> JSONValue {
        guard depth <= JSONValue.depthLimit else { throw .badUpdate("the updated screen nests too deep") }
        return self
    }

    /// Takes the number of values off a budget, and stops when it is used up.
    fileprivate func count(_ budget: inout Int) {
        budget -= 1
        guard budget >= 0 else { return }
        switch self {
        case .array(let elements): for element in elements { element.count(&budget) }
        case .object(let members): for member in members.values { member.count(&budget) }
        default: break
        }
    }

    /// Adds a value to an object or array, or replaces the one at its place.
    fileprivate mutating func set(_ value: JSONValue, at pointer: JSONPointer, replaces: Bool = false) -> Bool {
        guard !pointer.tokens.isEmpty else {
            self = value
            return true
        }
        return changeContainer(of: pointer.tokens[...]) { container, token in
            switch container {
            case .object(var members):
                members[token] = value
                container = .object(members)
            case .array(var elements):
                let end = elements.count + (replaces ? 0 : 1)
                guard let index = token == "-" && !replaces ? elements.count : Self.index(token, below: end) else {
                    return false
                }
                elements.replaceSubrange(index..<(replaces ? index + 1 : index), with: [value])
                container = .array(elements)
            default: return false
            }
            return true
        }
    }

    fileprivate mutating func remove(at pointer: JSONPointer) -> Bool {
        changeContainer(of: pointer.tokens[...]) { container, token in
            switch container {
            case .object(var members):
                guard members.removeValue(forKey: token) != nil else { return false }
                container = .object(members)
            case .array(var elements):
                guard let index = Self.index(token, below: elements.count) else { return false }
                elements.remove(at: index)
                container = .array(elements)
            default: return false
            }
            return true
        }
    }

    /// Whether two values are equal, with numbers compared by value (RFC 6902, 4.6).
    fileprivate func isEqual(to other: JSONValue) -> Bool {
        switch (self, other) {
        case (.array(let one), .array(let two)): one.elementsEqual(two) { $0.isEqual(to: $1) }
        case (.object(let one), .object(let two)):
            one.count == two.count && one.allSatisfy { name, value in two[name].map { value.isEqual(to: $0) } ?? false }
        case (.integer(let one), .number(let two)), (.number(let two), .integer(let one)): Double(one) == two
        default: self == other
        }
    }
}

extension NetworkError {
    /// The error of an update that is malformed or can't be applied.
    static func badUpdate(_ problem: String) -> NetworkError {
        NetworkError(.decoding, during: .decode, problem, advice: "fetch the screen again")
    }
}
