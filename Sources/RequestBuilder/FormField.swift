public import BeagleNetHTTP

/// One input of a form.
public struct FormField: Sendable, Hashable {
    /// The name under which the value is sent; an empty one is refused.
    public var name: String
    /// The value with its type: a JSON form keeps it, a query or URL-encoded form writes it as text.
    public var value: JSONValue
    /// The file that is sent in the value's place; only a multipart body carries one.
    public var file: FormFile?
    /// Whether the form may not be submitted while there is no file and the value is null or empty text.
    public var isRequired: Bool

    /// An input with a typed value.
    public init(_ name: String, _ value: JSONValue, isRequired: Bool = false) {
        self.name = name
        self.value = value
        self.isRequired = isRequired
    }

    /// An input with a text value.
    public init(_ name: String, _ value: String, isRequired: Bool = false) {
        self.init(name, .string(value), isRequired: isRequired)
    }

    /// An input with a file.
    public init(_ name: String, _ file: FormFile) {
        self.init(name, .null)
        self.file = file
    }
}
