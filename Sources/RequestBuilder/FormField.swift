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

extension FormField: CustomStringConvertible, CustomReflectable {
    /// Name and value as a JSON object, in which `REDACTED` stands for a secret.
    public var description: String { [self].shown }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension [FormField] {
    /// Names and values as a JSON object, in which `REDACTED` stands for secrets. Names may repeat.
    var shown: String {
        let members = map { field in
            let value = field.file.map { JSONValue.string("the file \($0.filename)") } ?? field.value
            return "\(JSONValue.string(field.name)):\(value)"
        }
        return Redactor.standard.shown(
            Data("{\(members.joined(separator: ","))}".utf8),
            contentType: "application/json"
        )
    }
}
