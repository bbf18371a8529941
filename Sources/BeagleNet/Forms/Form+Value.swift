public import BeagleNetHTTP
public import BeagleNetRequestBuilder

extension Form {
    /// The value of an input, which keeps its type in JSON and is text in a query or in a URL-encoded or multipart
    /// body.
    public enum Value: Sendable, Hashable {
        /// No value.
        case empty
        /// Text.
        case text(String)
        /// An integer.
        case integer(Int64)
        /// A number, which must be finite in JSON; an infinite one is a build error there.
        case number(Double)
        /// A Boolean value.
        case bool(Bool)
        /// Several values: an array in JSON, otherwise one field for each.
        case list([Value])
        /// A file, which requires a multipart body.
        case file(FormFile)

        /// Returns a date and time as RFC 3339 text, in UTC and whole seconds: `2026-11-22T04:34:41Z`.
        public static func date(_ date: Date) -> Value {
            .text(date.formatted(.iso8601))
        }

        /// Returns a day as text, as an HTML date input sends it: `2026-11-22`.
        ///
        /// - Parameters:
        ///   - date: A moment of the day.
        ///   - timeZone: The time zone of the day.
        public static func day(_ date: Date, in timeZone: TimeZone) -> Value {
            .text(date.formatted(Date.ISO8601FormatStyle(timeZone: timeZone).year().month().day()))
        }

        /// Whether the value is empty: no value, no text, an empty list, or a list of empty values.
        public var isEmpty: Bool {
            switch self {
            case .empty: true
            case .text(let text): text.isEmpty
            case .list(let values): values.allSatisfy(\.isEmpty)
            case .integer, .number, .bool, .file: false
            }
        }

        /// The text, or `nil` if the value isn't text.
        public var text: String? {
            if case .text(let text) = self { return text }
            return nil
        }
    }
}

extension Form.Value: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral
{
    /// Creates an empty value.
    public init(nilLiteral: ()) { self = .empty }
    /// Creates a Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integer value.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a number value.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a text value.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Creates a list.
    public init(arrayLiteral elements: Form.Value...) { self = .list(elements) }
}

extension Form.Value {
    /// Creates a value from its stored JSON.
    init(_ json: JSONValue) {
        switch json {
        case .null: self = .empty
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .number(value)
        case .string(let text): self = .text(text)
        case .array(let values): self = .list(values.map(Form.Value.init))
        case .object: self = .text(json.description)
        }
    }

    /// The value as JSON, or `nil` if it contains a file.
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

    /// Returns the value as fields of this name.
    ///
    /// - Parameter repeatsName: Whether each value of a list is a field of its own, as files always are.
    func fields(_ name: String, repeatsName: Bool) -> [FormField] {
        switch self {
        case .file(let file): return [FormField(name, file)]
        case .list(let values) where repeatsName || json == nil:
            return values.flatMap { $0.fields(name, repeatsName: true) }
        default: return [FormField(name, json ?? .null)]
        }
    }
}
