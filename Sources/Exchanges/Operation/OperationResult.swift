import BeagleNet
public import BeagleNetHTTP

/// What comes of an operation: its answer, a stored one, one of several.
public struct OperationResult: Sendable, Identifiable {
    /// What was asked, as it was when it was answered.
    public var operation: Operation
    /// Whether a newer result is on its way.
    public var stale: Bool?
    /// Whether the operation has more to give after this; nil where nobody says: then a query or mutation has not, and a
    /// subscription has.
    public var hasNext: Bool?
    private var answer: Answer

    /// Values, or what they are read of when somebody looks.
    private enum Answer: Sendable {
        case values(CopyOnWrite<HostedAnswer.Values>)
        case hosted(HostedAnswer)
    }

    /// Describes a result.
    ///
    /// - Parameters:
    ///   - operation: what was asked.
    ///   - data: what was asked for; `nil` where there is none.
    ///   - error: why there is no answer, or not the whole of it.
    ///   - stale: whether a newer result is on its way.
    ///   - extensions: what else the server says.
    ///   - hasNext: whether the operation has more to give after this.
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
        answer = .values(CopyOnWrite(HostedAnswer.Values(data: data, extensions: extensions, error: error)))
    }

    /// The result of an operation that went through a pipeline.
    init(operation: Operation, hosted: HostedAnswer, stale: Bool = false, hasNext: Bool = false) {
        self.operation = operation
        self.stale = stale
        self.hasNext = hasNext
        answer = .hosted(hosted)
    }

    /// The operation's.
    public var id: String { operation.id }

    /// What was asked for; `.null` where there is none, which SwiftGraphQLClient has a `Void` for.
    public var data: AnyCodable {
        get { values.data }
        set { values.data = newValue }
    }

    /// Why there is no answer, or not the whole of it.
    public var error: CombinedError? {
        get { values.error }
        set { values.error = newValue }
    }

    /// What else the server says; nil where there is nothing.
    public var extensions: [String: AnyCodable]? {
        get { values.extensions }
        set { values.extensions = newValue }
    }

    private var values: HostedAnswer.Values {
        get {
            switch answer {
            case .values(let values): values.value
            case .hosted(let answer): answer.values
            }
        }
        set { answer = .values(CopyOnWrite(newValue)) }
    }

    /// What the pipeline gave, unless an exchange put something else in its place.
    var hosted: HostedAnswer? {
        if case .hosted(let answer) = answer { return answer }
        return nil
    }

    /// Whether there is nothing better to wait for.
    var isSettled: Bool { stale != true && hasNext != true }
}

extension OperationResult: Equatable {
    /// Whether two say the same of the same operation.
    public static func == (one: OperationResult, other: OperationResult) -> Bool {
        one.operation == other.operation && one.data == other.data && one.error == other.error
            && one.stale == other.stale && one.extensions == other.extensions && one.hasNext == other.hasNext
    }
}

extension OperationResult {
    /// Makes a value of the data.
    ///
    /// - Parameter type: what to make.
    /// - Throws: `NetworkError` of kind `.decoding` that names the place of the fault.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(NetworkError) -> DecodedOperationResult<T> {
        let value = try NetworkResponse(json: data).decode(as: type)
        return DecodedOperationResult(operation: operation, data: value, error: error, stale: stale)
    }
}

extension OperationResult: CustomStringConvertible, CustomReflectable {
    /// What it is the result of, and data and errors, with their secrets replaced.
    public var description: String {
        let marks = [stale == true ? "stale" : nil, hasNext == true ? "more to come" : nil].compactMap(\.self)
        let title = (["\(operation.kind.rawValue) \(operation.id)"] + marks).joined(separator: ", ")
        let text = "\(title): \(Beagle.dependencies.redactor.shown(data))"
        return error.map { "\(text)\nerror: \($0)" } ?? text
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
