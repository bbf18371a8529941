import BeagleNetHTTP

/// Takes secrets out of the fields of a form of which an archive has no bytes, by the rules for these bytes.
struct FormRedaction {
    private let redactor: Redactor
    /// The same, which says of a secret that it is one.
    private let masking: Redactor
    /// An item that stays: the one, if any, beside which OAuth's `state` is secret.
    private let companion: String

    init(_ redactor: Redactor, _ fields: [LoggedParameter]) {
        self.redactor = redactor
        var masking = redactor
        masking.mode = .mask
        self.masking = masking
        let signIn = fields.first { field in
            masking.findings(inURL: "?state=x&\(FormText.pair(field.name, field.value))", at: "").contains(":?state")
        }
        companion = FormText.pair(signIn?.name ?? "_", Redactor.placeholder)
    }

    /// The field without its secrets; nil where it goes altogether.
    ///
    /// - Parameters:
    ///   - place: what the audit calls the form's fields.
    ///   - audit: takes what was found but for the value of a field that is secret, which is told beside the field.
    func redacted(
        _ whole: LoggedParameter,
        at place: String,
        noting audit: inout RedactionAudit
    ) -> (field: LoggedParameter?, isSecret: Bool) {
        var field = whole
        field.name = redactor.redact(text: whole.name, at: place, noting: &audit)
        field.fileName = whole.fileName.map { redactor.redact(text: $0, at: place, noting: &audit) }
        field.contentType = whole.contentType.map { redactor.redact(text: $0, at: place, noting: &audit) }
        guard let value = whole.value, !value.isEmpty else { return (field, false) }
        guard self.value(of: whole, by: masking) == Redactor.placeholder, value != Redactor.placeholder else {
            field.value = redactor.redact(text: value, at: "\(place).\(field.name.prefix(64))", noting: &audit)
            return (field, false)
        }
        field.value = self.value(of: whole, by: redactor)
        return (field.value == nil ? nil : field, true)
    }

    /// The field's value in a query; nil where its item went.
    private func value(of field: LoggedParameter, by redactor: Redactor) -> String? {
        let query = redactor.redact(url: "?\(FormText.pair(field.name, field.value))&\(companion)")
        let items = QueryItems.of(query)
        return items.count > 1 ? items[0].value : nil
    }
}
