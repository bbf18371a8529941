import BeagleNet
import Foundation

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
