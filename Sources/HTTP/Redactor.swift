/// Tells what must not be shown: credentials in headers, secret values in URLs, and bodies.
public struct Redactor: Sendable, Hashable {
    /// What stands in place of a secret.
    public static let placeholder = "REDACTED"

    /// A redactor that knows the usual secrets.
    public init() {}

    /// Whether the values of a header are secret.
    public func isSecret(header name: HTTPField.Name) -> Bool {
        true
    }

    /// The URL with its secrets replaced.
    public func redact(url: String) -> String {
        url
    }

    /// The fields with secret values replaced, in order.
    public func redact(_ fields: HTTPFields) -> [(name: String, value: String)] {
        fields.map { ($0.name.rawName, isSecret(header: $0.name) ? Self.placeholder : $0.value) }
    }

    /// Size and media type of a body, never its contents.
    public func summary(of body: Data?, contentType: String?) -> String {
        ""
    }
}
