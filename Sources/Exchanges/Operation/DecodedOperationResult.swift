/// A result whose data was decoded as a Swift type.
public struct DecodedOperationResult<T> {
    /// The operation that this is the result of.
    public var operation: Operation
    /// The decoded data.
    public var data: T
    /// The error that made this result partial.
    public var error: CombinedError?
    /// Whether a newer result is on its way.
    public var stale: Bool?

    /// Creates a result.
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
    /// The operation's kind and id, the data and the error, with secrets redacted.
    public var description: String {
        let redactor = Beagle.dependencies.redactor
        let text = "\(operation.kind.rawValue) \(operation.id): \(redactor.redactedDescription(describing: data))"
        return error.map { "\(text)\nerror: \($0)" } ?? text
    }
    /// A mirror without children, because `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
