/// A result whose data was made a value of.
public struct DecodedOperationResult<T> {
    /// What was asked.
    public var operation: Operation
    /// What was asked for.
    public var data: T
    /// Why it is not the whole answer.
    public var error: CombinedError?
    /// Whether a newer result is on its way.
    public var stale: Bool?

    /// Describes a result.
    public init(operation: Operation, data: T, error: CombinedError? = nil, stale: Bool? = nil) {
        self.operation = operation
        self.data = data
        self.error = error
        self.stale = stale
    }
}

extension DecodedOperationResult: Sendable where T: Sendable {}
extension DecodedOperationResult: Equatable where T: Equatable {}

extension DecodedOperationResult: CustomStringConvertible, CustomReflectable {
    /// What it is the result of, and data and error, with their secrets replaced.
    public var description: String {
        let redactor = Beagle.dependencies.redactor
        let text = "\(operation.kind.rawValue) \(operation.id): \(redactor.shown(describing: data))"
        return error.map { "\(text)\nerror: \($0)" } ?? text
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
