import BeagleNetHTTP

/// The values of contexts for the expressions of one text.
struct ContextScope: ExpressionScope {
    private let values: [String: JSONValue]
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
        return ScreenValue(root.value(at: path.map(ContextPath.Step.init)))
    }
}
