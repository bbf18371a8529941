/// The value of an expression.
enum ScreenValue: Equatable {
    /// The value depends on something that the screen doesn't contain.
    case unknown
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    /// An object or array at this position of the document.
    case container(Int)

    /// The value as a part of a text, or `nil` if it has no form as text.
    var text: String? {
        switch self {
        case .unknown, .container: nil
        case .null: ""
        case .bool(let value): "\(value)"
        case .number(let value): Int64(exactly: value).map { "\($0)" } ?? "\(value)"
        case .text(let value): value
        }
    }

    var number: Double? {
        switch self {
        case .number(let value): value
        case .text(let value): Double(value)
        default: nil
        }
    }

    var bool: Bool? {
        if case .bool(let value) = self { return value }
        return nil
    }
}
