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
    /// An object or array, at this position of the document or of the list of its scope.
    case container(Int)

    /// The number that a JSON text has.
    static func number(_ text: String) -> ScreenValue? {
        if let integer = Int64(text), Double(exactly: integer) == nil { return .integer(integer) }
        return Double(text).map { .number($0) }
    }

    /// The value as a part of a text, or `nil` if it has no form as text.
    var text: String? {
        switch self {
        case .unknown, .container: nil
        case .null: ""
        case .bool(let value): "\(value)"
        case .number(let value): Int64(exactly: value).map { "\($0)" } ?? "\(value)"
        case .integer(let value): "\(value)"
        case .text(let value): value
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

    /// Whether the value is a number, and not a text of one.
    var isNumber: Bool {
        switch self {
        case .number, .integer: true
        default: false
        }
    }

    var bool: Bool? {
        if case .bool(let value) = self { return value }
        return nil
    }
}
