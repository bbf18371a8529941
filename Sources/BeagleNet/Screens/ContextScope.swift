import BeagleNetHTTP

/// The values of contexts for the expressions of one text.
struct ContextScope: ExpressionScope {
    private let values: [String: JSONValue]
    /// The objects and arrays that were read, by the number in their `ScreenValue`.
    private(set) var containers: [JSONValue] = []
    /// The first context that doesn't exist.
    private(set) var missing: String?
    /// The contexts and paths that were read.
    private(set) var bindings: [ContextPath] = []

    init(_ values: [String: JSONValue]) {
        self.values = values
    }

    mutating func value(of context: ArraySlice<UInt8>, at path: [ExpressionStep]) -> ScreenValue {
        let id = String(decoding: context, as: UTF8.self)
        bindings.append(ContextPath(id: id, steps: path.map(ContextPath.Step.init)))
        guard let root = values[id] else {
            missing = missing ?? id
            return .unknown
        }
        return screenValue(of: root.value(at: path.map(ContextPath.Step.init)))
    }

    private mutating func screenValue(of value: JSONValue) -> ScreenValue {
        switch value {
        case .null: return .null
        case .bool(let value): return .bool(value)
        // Other integers would lose digits.
        case .integer(let value): return Double(exactly: value).map { .number($0) } ?? .integer(value)
        case .number(let value): return .number(value)
        case .string(let text): return .text(text)
        case .array, .object:
            containers.append(value)
            return .container(containers.count - 1)
        }
    }
}
