public import BeagleNet

/// The variables of an operation, or the fields of an input object.
///
/// (The name is Relay's.)
///
/// ```swift
/// var variables: VariableData = ["id": "1", "first": 10]
/// variables.after = "x"
/// variables.first = nil  // left out, so that its default counts; `.null` says null
/// ```
///
/// `data()` returns the same bytes each time. `JSONEncoder` does so only with `.sortedKeys`; otherwise the order of
/// members varies.
@dynamicMemberLookup
public struct VariableData: Sendable, Hashable {
    private var fields: [String: VariableValue]

    /// Creates an empty set of variables.
    public init() {
        fields = [:]
    }

    /// Creates variables with these values.
    public init(_ fields: [String: any VariableValueConvertible]) {
        self.fields = fields.mapValues(\.variableValue)
    }

    init(pairs: [(String, any VariableValueConvertible)]) {
        fields = Dictionary(pairs.map { ($0, $1.variableValue) }, uniquingKeysWith: { $1 })
    }

    /// The value of a variable, or `nil` if it is left out.
    ///
    /// Setting `nil` leaves the variable out.
    public subscript(name: String) -> VariableValue? {
        get { fields[name] }
        set { fields[name] = newValue }
    }

    /// The value of a variable, or `nil` if it is left out.
    ///
    /// Setting `nil` leaves the variable out.
    public subscript(dynamicMember name: String) -> VariableValue? {
        get { fields[name] }
        set { fields[name] = newValue }
    }

    /// Whether there are no variables.
    public var isEmpty: Bool { fields.isEmpty }

    /// Adds variables, replacing existing ones of the same name.
    public mutating func merge(_ other: some VariableDataConvertible) {
        fields.merge(other.variableData.fields) { $1 }
    }

    /// The variables as JSON.
    public var json: JSONValue { .object(fields.mapValues(\.json)) }

    /// Returns the variables as the text of a JSON object, sorted by name, so that equal variables have equal bytes.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` for a number that JSON can't represent: an infinity or NaN.
    public func data() throws(NetworkError) -> Data { try json.data() }
}

extension VariableData: ExpressibleByDictionaryLiteral {
    /// Creates variables with these values.
    ///
    /// If a name is repeated, the last value counts.
    public init(dictionaryLiteral elements: (String, any VariableValueConvertible)...) {
        self.init(pairs: elements)
    }
}

extension VariableData: CustomStringConvertible {
    /// The variables by name, such as `{after:"x",first:10}`; empty without variables.
    public var description: String {
        guard !isEmpty else { return "" }
        let texts = fields.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
        return "{\(texts.joined(separator: ","))}"
    }
}

extension VariableData: Codable {
    /// Decodes an object.
    public init(from decoder: any Decoder) throws {
        fields = try decoder.singleValueContainer().decode([String: VariableValue].self)
    }

    /// Encodes an object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(fields)
    }
}

extension VariableData: VariableDataConvertible {
    /// The variables themselves.
    public var variableData: VariableData { self }
}

/// The variables of an operation that takes none.
///
/// (The name is Relay's.)
public struct EmptyVariables: VariableDataConvertible, Sendable, Hashable {
    /// Creates an empty set of variables.
    public init() {}

    /// An empty set of variables.
    public var variableData: VariableData { VariableData() }
}
