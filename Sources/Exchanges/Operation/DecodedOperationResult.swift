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
