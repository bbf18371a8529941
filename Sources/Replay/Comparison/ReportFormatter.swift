import BeagleNet
import BeagleNetHTTP

/// A formatter for values in reports, short and without secrets.
struct ReportFormatter {
    /// The maximum number of characters of a value.
    private static let limit = 100

    let redactor: Redactor

    /// Formats text other than JSON in a single line.
    func text(_ text: String) -> String {
        // The whole text is redacted before it is cut, because part of a secret may not be recognized.
        let start = redactor.redact(text: text).unicodeScalars.prefix(Self.limit + 1).map { scalar in
            scalar.properties.generalCategory == .control ? " " : scalar
        }
        return Self.shortened(String(String.UnicodeScalarView(start)))
    }

    /// Formats the value of a header field.
    func value(of field: LogEntry.Field) -> String {
        guard let name = HTTPField.Name(field.name) else { return Redactor.placeholder }
        let fields = HTTPFields([HTTPField(name: name, value: field.value)])
        return text(redactor.redact(fields).first?.value ?? "")
    }

    /// Formats a JSON value in a single line.
    ///
    /// - Parameter isSecret: whether the value is inside a member with a secret name.
    func json(_ node: JSONNode, isSecret: Bool) -> String {
        var text = ""
        write(node, isSecret: isSecret, to: &text)
        return Self.shortened(text)
    }

    /// Returns whether a member is secret by its name.
    func isSecret(_ name: String, _ value: JSONNode) -> Bool {
        redactor.isSecret(name: name, length: value.kind == .string ? value.range.count - 2 : value.range.count)
    }

    private static func shortened(_ text: String) -> String {
        text.unicodeScalars.count > limit ? String(text.unicodeScalars.prefix(limit)) + "…" : text
    }

    /// Writes a value, and stops shortly after the limit.
    private func write(_ node: JSONNode, isSecret: Bool, to text: inout String) {
        guard text.utf8.count <= 4 * Self.limit else { return }
        switch node.kind {
        case .object:
            var separator = "{"
            for (name, value) in node.members where text.utf8.count <= 4 * Self.limit {
                text += "\(separator)\"\(self.text(name))\": "
                write(value, isSecret: isSecret || self.isSecret(name, value), to: &text)
                separator = ", "
            }
            text += separator == "{" ? "{}" : "}"
        case .array:
            var separator = "["
            for value in node.elements where text.utf8.count <= 4 * Self.limit {
                text += separator
                write(value, isSecret: isSecret, to: &text)
                separator = ", "
            }
            text += separator == "[" ? "[]" : "]"
        case .null, .bool: text += String(decoding: node.raw, as: UTF8.self)
        case .string, .number:
            text += isSecret ? Redactor.placeholder : self.text(String(decoding: node.raw, as: UTF8.self))
        }
    }
}
