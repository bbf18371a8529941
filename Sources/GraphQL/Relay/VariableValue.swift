public import BeagleNet

/// The value of a variable. (The word is Relay's.)
public enum VariableValue: Sendable, Hashable {
    /// `null`, said explicitly: a variable that is left out has its default instead.
    case null
    /// Text.
    case string(String)
    /// A whole number.
    case int(Int)
    /// `true` or `false`
    case bool(Bool)
    /// Any other number.
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
    /// The value with names out of quotes and text in them, as `{after:"x",first:10}`.
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
    /// Text.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// A whole number.
    public init(integerLiteral value: Int) {
        self = .int(value)
    }

    /// A number.
    public init(floatLiteral value: Double) {
        self = .float(value)
    }

    /// `true` or `false`
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// A list, whose elements may differ in type.
    public init(arrayLiteral elements: (any VariableValueConvertible)...) {
        self = .array(elements.map(\.variableValue))
    }

    /// An input object, whose fields may differ in type; of a name that repeats, the last counts.
    public init(dictionaryLiteral elements: (String, any VariableValueConvertible)...) {
        self = .object(VariableData(pairs: elements))
    }
}

extension VariableValue: Codable {
    /// Reads any value that a decoder has; one that counts `1.0` as whole gives an `int`.
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

    /// Writes the value as what it is.
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
