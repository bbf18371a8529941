public import BeagleNet

/// The value of a variable.
///
/// (The name is Relay's.)
public enum VariableValue: Sendable, Hashable {
    /// An explicit `null`.
    ///
    /// A variable that is left out gets its default instead.
    case null
    /// A string.
    case string(String)
    /// An integer.
    case int(Int)
    /// A Boolean.
    case bool(Bool)
    /// A number that is not an integer.
    case float(Double)
    /// An input object.
    case object(VariableData)
    /// A list.
    case array([VariableValue])
}

extension VariableValue {
    /// The value as JSON.
    public var json: JSONValue {
        switch self {
        case .null: .null
        case .string(let text): .string(text)
        case .int(let number): .integer(Int64(number))
        case .bool(let value): .bool(value)
        case .float(let number): .number(number)
        case .object(let data): data.json
        case .array(let elements): .array(elements.map(\.json))
        }
    }
}

extension VariableValue: CustomStringConvertible {
    /// The value with unquoted names and quoted strings, such as `{after:"x",first:10}`.
    public var description: String {
        switch self {
        case .null: "null"
        case .string(let text): String(reflecting: text)
        case .int(let number): "\(number)"
        case .bool(let value): "\(value)"
        case .float(let number): "\(number)"
        case .object(let data): data.isEmpty ? "{}" : data.description
        case .array(let elements): "[\(elements.map(\.description).joined(separator: ","))]"
        }
    }
}

extension VariableValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Creates an integer.
    public init(integerLiteral value: Int) {
        self = .int(value)
    }

    /// Creates a number.
    public init(floatLiteral value: Double) {
        self = .float(value)
    }

    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// Creates a list, whose elements may differ in type.
    public init(arrayLiteral elements: (any VariableValueConvertible)...) {
        self = .array(elements.map(\.variableValue))
    }

    /// Creates an input object, whose fields may differ in type.
    ///
    /// If a name is repeated, the last value counts.
    public init(dictionaryLiteral elements: (String, any VariableValueConvertible)...) {
        self = .object(VariableData(pairs: elements))
    }
}

extension VariableValue: Codable {
    /// Decodes any value.
    ///
    /// A decoder that treats `1.0` as an integer yields an `int`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .float(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([VariableValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode(VariableData.self))
        }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .string(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .float(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        }
    }
}
