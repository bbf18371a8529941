import BeagleNet

/// What the body of an error says to people: a problem (RFC 9457), or a list of errors, each with its field.
struct Problem {
    /// What went wrong, where the body says so.
    var detail: String?
    /// What is wrong with the fields of a form, or with all of it.
    var errors: [FieldError] = []

    /// Reads a body; nil where it is no JSON object.
    init?(_ body: Data) {
        guard let value = try? JSONValue(parsing: body), value.object != nil else { return nil }
        detail = ["detail", "message", "error", "title"].lazy.compactMap { value[$0]?.string?.printable }.first
        errors = FieldError.list(in: body, contentType: nil, inputs: nil).map { error in
            FieldError(field: error.field?.printable, message: error.message.printable)
        }
    }
}
