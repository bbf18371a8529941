public import BeagleNet

/// The variables of an operation, or the fields of an input object. (The word is Relay's.)
///
/// ```swift
/// var variables: VariableData = ["id": "1", "first": 10]
/// variables.after = "x"
/// variables.first = nil  // left out, so that its default counts; `.null` says null
/// ```
///
/// `data()` gives the same bytes each time. `JSONEncoder` does so only with `.sortedKeys`: without it, the members of any
/// object come in any order.
@dynamicMemberLookup
public struct VariableData: Sendable, Hashable {
    private var fields: [String: VariableValue]

    /// No variables.
    public init() {
        fields = [:]
    }

    /// Variables of these values.
    public init(_ fields: [String: any VariableValueConvertible]) {
        self.fields = fields.mapValues(\.variableValue)
    }

    init(pairs: [(String, any VariableValueConvertible)]) {
        fields = Dictionary(pairs.map { ($0, $1.variableValue) }, uniquingKeysWith: { $1 })
    }

    /// The variable of this name; nil where it is left out. Setting nil leaves it out.
    public subscript(name: String) -> VariableValue? {
        get { fields[name] }
        set { fields[name] = newValue }
    }

    /// The variable of this name; nil where it is left out. Setting nil leaves it out.
    public subscript(dynamicMember name: String) -> VariableValue? {
        get { fields[name] }
        set { fields[name] = newValue }
    }

    /// Whether there are no variables.
    public var isEmpty: Bool { fields.isEmpty }

    /// Adds variables; of a name that both have, the other's counts.
    public mutating func merge(_ other: some VariableDataConvertible) {
        fields.merge(other.variableData.fields) { $1 }
    }

    /// The variables as JSON.
    public var json: JSONValue { .object(fields.mapValues(\.json)) }

    /// The variables as the text of a JSON object, sorted by name, so that the same ones always give the same bytes.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` for a number that JSON has no word for: infinite, or none.
    public func data() throws(NetworkError) -> Data { try json.data() }
}

extension VariableData: ExpressibleByDictionaryLiteral {
    /// Variables of these values; of a name that repeats, the last counts.
    public init(dictionaryLiteral elements: (String, any VariableValueConvertible)...) {
        self.init(pairs: elements)
    }
}

extension VariableData: CustomStringConvertible {
    /// The variables by name, as `{after:"x",first:10}`; empty where there are none.
    public var description: String {
        guard !isEmpty else { return "" }
        let texts = fields.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
        return "{\(texts.joined(separator: ","))}"
    }
}

extension VariableData: Codable {
    /// Reads an object.
    public init(from decoder: any Decoder) throws {
        fields = try decoder.singleValueContainer().decode([String: VariableValue].self)
    }

    /// Writes an object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(fields)
    }
}

extension VariableData: VariableDataConvertible {
    /// Itself.
    public var variableData: VariableData { self }
}

/// Variables of an operation that takes none. (The word is Relay's.)
public struct EmptyVariables: VariableDataConvertible, Sendable, Hashable {
    /// No variables.
    public init() {}

    /// Nothing.
    public var variableData: VariableData { VariableData() }
}
