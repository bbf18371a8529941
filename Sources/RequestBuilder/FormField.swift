public import BeagleNetHTTP

/// An input of a form.
public struct FormField: Sendable, Hashable {
    /// The name under which the value is sent; an empty name is rejected.
    public var name: String
    /// The typed value, which JSON preserves and a query or URL-encoded form writes as text.
    public var value: JSONValue
    /// The file that is sent in place of the value; it requires a multipart body.
    public var file: FormFile?
    /// Whether the form is rejected if there is no file and the value is null or empty text.
    public var isRequired: Bool

    /// Creates an input with a typed value.
    public init(_ name: String, _ value: JSONValue, isRequired: Bool = false) {
        self.name = name
        self.value = value
        self.isRequired = isRequired
    }

    /// Creates an input with a text value.
    public init(_ name: String, _ value: String, isRequired: Bool = false) {
        self.init(name, .string(value), isRequired: isRequired)
    }

    /// Creates an input with a file.
    public init(_ name: String, _ file: FormFile) {
        self.init(name, .null)
        self.file = file
    }
}

extension FormField: CustomStringConvertible, CustomReflectable {
    /// The name and value as a JSON object, with `REDACTED` in place of a secret.
    public var description: String { [self].shown }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension [FormField] {
    /// The names and values as a JSON object, with `REDACTED` in place of secrets; names may repeat.
    var shown: String {
        let members = map { field in
            let value = field.file.map { JSONValue.string("the file \($0.filename)") } ?? field.value
            return "\(JSONValue.string(field.name)):\(value)"
        }
        return Redactor.standard.redactedDescription(
            of:
                Data("{\(members.joined(separator: ","))}".utf8),
            contentType: "application/json"
        )
    }
}
