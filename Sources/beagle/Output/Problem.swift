import BeagleNet

/// The error messages of a response body: problem details (RFC 9457), or a list of errors for form fields.
struct Problem {
    /// The overall error message, or `nil` if the body doesn't contain one.
    var detail: String?
    /// The errors of a form or its fields.
    var errors: [Form.FieldError] = []

    /// Reads a body, or returns `nil` if it isn't a JSON object.
    init?(_ body: Data) {
        guard let value = try? JSONValue(parsing: body), value.object != nil else { return nil }
        detail = ["detail", "message", "error", "title"].lazy.compactMap { value[$0]?.string?.printable }.first
        errors = Form.FieldError.list(in: body, contentType: nil, inputs: nil).map { error in
            Form.FieldError(field: error.field?.printable, message: error.message.printable)
        }
    }
}
