public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// What was put into an input. JSON keeps the type; a query, a URL-encoded and a multipart body write it as text.
public enum FormValue: Sendable, Hashable {
    /// Nothing.
    case empty
    /// Text.
    case text(String)
    /// A whole number.
    case integer(Int64)
    /// A number; an infinite one has no place in JSON and is a build error there.
    case number(Double)
    /// A truth value.
    case bool(Bool)
    /// Several values: an array in JSON, elsewhere the input's name once for each.
    case list([FormValue])
    /// A file, which takes a multipart body.
    case file(FormFile)

    /// A moment as text of RFC 3339, in UTC and whole seconds: `2026-11-22T04:34:41Z`.
    public static func date(_ date: Date) -> FormValue {
        .text(date.formatted(.iso8601))
    }

    /// A day as text, as an HTML date input sends it: `2026-11-22`.
    ///
    /// - Parameters:
    ///   - date: a moment of the day.
    ///   - timeZone: where it is that day.
    public static func day(_ date: Date, in timeZone: TimeZone) -> FormValue {
        .text(date.formatted(Date.ISO8601FormatStyle(timeZone: timeZone).year().month().day()))
    }

    /// Whether nothing was put in: no text, no list, or a list of nothing.
    public var isEmpty: Bool {
        switch self {
        case .empty: true
        case .text(let text): text.isEmpty
        case .list(let values): values.allSatisfy(\.isEmpty)
        case .integer, .number, .bool, .file: false
        }
    }

    /// The text, if this is one.
    public var text: String? {
        if case .text(let text) = self { return text }
        return nil
    }
}

extension FormValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral
{
    /// Nothing.
    public init(nilLiteral: ()) { self = .empty }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Several values.
    public init(arrayLiteral elements: FormValue...) { self = .list(elements) }
}

extension FormValue {
    /// The value that a store gave back.
    init(_ json: JSONValue) {
        switch json {
        case .null: self = .empty
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .number(value)
        case .string(let text): self = .text(text)
        case .array(let values): self = .list(values.map(FormValue.init))
        case .object: self = .text(json.description)
        }
    }

    /// The value in JSON; nil where there is a file in it.
    var json: JSONValue? {
        switch self {
        case .empty: return .null
        case .text(let text): return .string(text)
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        case .bool(let value): return .bool(value)
        case .file: return nil
        case .list(let values):
            let elements = values.compactMap(\.json)
            return elements.count == values.count ? .array(elements) : nil
        }
    }

    /// The value as fields of this name.
    ///
    /// - Parameter repeatsName: whether each value of a list is a field of its own; files always are.
    func fields(_ name: String, repeatsName: Bool) -> [FormField] {
        switch self {
        case .file(let file): return [FormField(name, file)]
        case .list(let values) where repeatsName || json == nil:
            return values.flatMap { $0.fields(name, repeatsName: true) }
        default: return [FormField(name, json ?? .null)]
        }
    }
}
