import BeagleNetHTTP

/// The value of an expression.
enum ScreenValue: Equatable {
    /// The value depends on something that the screen doesn't contain.
    case unknown
    case null
    case bool(Bool)
    case number(Double)
    /// An integer with more digits than a `Double` keeps.
    case integer(Int64)
    case text(String)
    /// An object or array, at this position of the document.
    case container(Int)
    /// An object or array that isn't a part of the document.
    case json(JSONValue)

    init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        // Other integers would lose digits.
        case .integer(let value): self = Double(exactly: value).map { .number($0) } ?? .integer(value)
        case .number(let value): self = .number(value)
        case .string(let text): self = .text(text)
        case .array, .object: self = .json(value)
        }
    }

    /// The number that a JSON text has.
    static func number(_ text: String) -> ScreenValue? {
        if let integer = Int64(text), Double(exactly: integer) == nil { return .integer(integer) }
        return Double(text).map { .number($0) }
    }

    /// The value as a part of a text, or `nil` if it has no form as text.
    var text: String? {
        switch self {
        case .unknown, .container, .json: nil
        case .null: ""
        case .bool(let value): "\(value)"
        case .number(let value): Int64(exactly: value).map { "\($0)" } ?? "\(value)"
        case .integer(let value): "\(value)"
        case .text(let value): value
        }
    }

    /// The value as JSON, or `nil` if it isn't known or has to be read from the document.
    var json: JSONValue? {
        switch self {
        case .unknown, .container: nil
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let value): Int64(exactly: value).map { .integer($0) } ?? .number(value)
        case .integer(let value): .integer(value)
        case .text(let text): .string(text)
        case .json(let value): value
        }
    }

    var number: Double? {
        switch self {
        case .number(let value): value
        case .integer(let value): Double(value)
        case .text(let value): Double(value)
        default: nil
        }
    }

    var bool: Bool? {
        if case .bool(let value) = self { return value }
        return nil
    }
}
