import BeagleNetHTTP

/// A redaction of form fields in an archive without the form's bytes. It applies the rules for URL-encoded forms.
struct FormRedaction {
    private let redactor: Redactor
    /// The same redactor in the mode `.mask`, used to detect secrets.
    private let masking: Redactor
    /// An item that remains: the one, if any, that makes OAuth's `state` a secret.
    private let signInItem: String

    init(_ redactor: Redactor, _ fields: [LogEntry.Parameter]) {
        self.redactor = redactor
        var masking = redactor
        masking.mode = .mask
        self.masking = masking
        let signIn = fields.first { field in
            masking.findings(inURL: "?state=x&\(FormText.pair(field.name, field.value))", at: "").contains(":?state")
        }
        signInItem = FormText.pair(signIn?.name ?? "_", Redactor.placeholder)
    }

    /// Returns the field without its secrets; `nil` if the whole field is removed.
    ///
    /// - Parameters:
    ///   - place: the name of the form's fields in the audit.
    ///   - audit: receives the findings, except for a secret value, which `isSecret` reports.
    func redacted(
        _ whole: LogEntry.Parameter,
        at place: String,
        recordingTo audit: inout Redactor.Audit
    ) -> (field: LogEntry.Parameter?, isSecret: Bool) {
        var field = whole
        field.name = redactor.redact(text: whole.name, at: place, recordingTo: &audit)
        field.fileName = whole.fileName.map { redactor.redact(text: $0, at: place, recordingTo: &audit) }
        field.contentType = whole.contentType.map { redactor.redact(text: $0, at: place, recordingTo: &audit) }
        guard let value = whole.value, !value.isEmpty else { return (field, false) }
        guard self.value(of: whole, by: masking) == Redactor.placeholder, value != Redactor.placeholder else {
            field.value = redactor.redact(text: value, at: "\(place).\(field.name.prefix(64))", recordingTo: &audit)
            return (field, false)
        }
        field.value = self.value(of: whole, by: redactor)
        return (field.value == nil ? nil : field, true)
    }

    /// Returns the field's value after redaction in a query; `nil` if its item was removed.
    private func value(of field: LogEntry.Parameter, by redactor: Redactor) -> String? {
        let query = redactor.redact(url: "?\(FormText.pair(field.name, field.value))&\(signInItem)")
        let items = QueryItems.of(query)
        return items.count > 1 ? items[0].value : nil
    }
}
