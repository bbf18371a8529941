import BeagleNet
import Foundation

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

/// The text of an error response, for an error message.
enum ServerText {
    /// Returns the first line of a plain text body with secrets redacted, or `nil` for any other body.
    static func line(of body: Data, _ contentType: String?) -> String? {
        guard contentType.flatMap(MediaType.init)?.essence == "text/plain",
            let text = String(validating: body.prefix(64 << 10), as: UTF8.self),
            let line = Redactor().redact(text: text).split(whereSeparator: \.isNewline).first
        else { return nil }
        return String(line.prefix(300)).printable
    }
}
