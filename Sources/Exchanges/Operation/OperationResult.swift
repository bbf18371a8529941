import BeagleNet
public import BeagleNetHTTP

/// A result of an operation: the server's response, a stored result, or one of several results.
public struct OperationResult: Sendable, Identifiable {
    /// The operation, as it was when this result was produced.
    public var operation: Operation
    /// Whether a newer result is on its way.
    public var stale: Bool?
    /// Whether the operation has more results after this one.
    ///
    /// If this is `nil`, a query or mutation has no more results, and a subscription has.
    public var hasNext: Bool?
    private var content: Content

    /// The values, or the response from which they are read lazily.
    private enum Content: Sendable {
        case values(CopyOnWrite<PipelineOutcome.Values>)
        case hosted(PipelineOutcome)
    }

    /// Creates a result.
    ///
    /// - Parameters:
    ///   - operation: The operation that this is the result of.
    ///   - data: The data, or `nil` if there isn't any.
    ///   - error: The reason that there is no result, or only a partial one.
    ///   - stale: Whether a newer result is on its way.
    ///   - extensions: Additional data from the server.
    ///   - hasNext: Whether the operation has more results after this one.
    public init(
        operation: Operation,
        data: AnyCodable,
        error: CombinedError? = nil,
        stale: Bool? = false,
        extensions: [String: AnyCodable]? = nil,
        hasNext: Bool? = nil
    ) {
        self.operation = operation
        self.stale = stale
        self.hasNext = hasNext
        content = .values(CopyOnWrite(PipelineOutcome.Values(data: data, extensions: extensions, error: error)))
    }

    /// Creates the result of an operation that went through a pipeline.
    init(operation: Operation, hosted: PipelineOutcome, stale: Bool = false, hasNext: Bool = false) {
        self.operation = operation
        self.stale = stale
        self.hasNext = hasNext
        content = .hosted(hosted)
    }

    /// The operation's id.
    public var id: String { operation.id }

    /// The data, or `.null` if there isn't any.
    ///
    /// (SwiftGraphQLClient uses a `Void` value for that.)
    public var data: AnyCodable {
        get { values.data }
        set { values.data = newValue }
    }

    /// The reason that there is no result, or only a partial one.
    public var error: CombinedError? {
        get { values.error }
        set { values.error = newValue }
    }

    /// Additional data from the server, or `nil` if there isn't any.
    public var extensions: [String: AnyCodable]? {
        get { values.extensions }
        set { values.extensions = newValue }
    }

    private var values: PipelineOutcome.Values {
        get {
            switch content {
            case .values(let values): values.value
            case .hosted(let content): content.values
            }
        }
        set { content = .values(CopyOnWrite(newValue)) }
    }

    /// The pipeline's result, unless an exchange has replaced it.
    var hosted: PipelineOutcome? {
        if case .hosted(let content) = content { return content }
        return nil
    }

    /// Whether this is a final result: it isn't stale, and no more results follow.
    var isSettled: Bool { stale != true && hasNext != true }
}

extension OperationResult: Equatable {
    /// Returns whether two results have the same operation and the same content.
    public static func == (one: OperationResult, other: OperationResult) -> Bool {
        one.operation == other.operation && one.data == other.data && one.error == other.error
            && one.stale == other.stale && one.extensions == other.extensions && one.hasNext == other.hasNext
    }
}

extension OperationResult {
    /// Decodes the data.
    ///
    /// - Parameter type: The type to decode.
    /// - Throws: `NetworkError` of kind `.decoding` that names the location of the mismatch.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(NetworkError) -> DecodedOperationResult<T> {
        let value = try NetworkResponse(json: data).decode(as: type)
        return DecodedOperationResult(operation: operation, data: value, error: error, stale: stale)
    }
}

extension OperationResult: CustomStringConvertible, CustomReflectable {
    /// The operation's kind and id, the data and the error, with secrets redacted.
    public var description: String {
        let marks = [stale == true ? "stale" : nil, hasNext == true ? "more to come" : nil].compactMap(\.self)
        let title = (["\(operation.kind.rawValue) \(operation.id)"] + marks).joined(separator: ", ")
        let text = "\(title): \(Beagle.dependencies.redactor.redactedDescription(of: data))"
        return error.map { "\(text)\nerror: \($0)" } ?? text
    }
    /// A mirror without children, because `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
