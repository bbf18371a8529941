import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The fields of a form that `/signup` receives, and their validation errors.
struct SignupForm {
    /// A validation error of a field, in words for the user.
    struct FieldError: Encodable {
        let field: String
        let message: String
    }

    private(set) var fields: [String: String]
    /// The media type of the photo, or `nil` if there is no photo.
    private var photoType: String?

    /// Reads a JSON object, `application/x-www-form-urlencoded` pairs, or a multipart form. Returns `nil` for any other
    /// body.
    init?(_ body: BackendBody, contentType: String) throws {
        guard MediaType(contentType)?.essence == "multipart/form-data" else {
            self.init(try body.collect(), contentType: contentType)
            return
        }
        do {
            let parts = try ReceivedPart.all(of: body, contentType: contentType)
            self.init(fields: Dictionary(parts.map { ($0.name, $0.value ?? "") }) { _, last in last })
            photoType = parts.first { $0.name == "photo" && $0.filename != nil }.map { $0.type ?? "" }
        } catch is NetworkError {
            return nil
        }
    }

    private init(fields: [String: String]) {
        self.fields = fields
    }

    private init?(_ body: Data, contentType: String) {
        let mediaType = contentType.prefix { $0 != ";" }.lowercased()
        switch mediaType {
        case "application/json":
            guard let fields = try? JSONValue(parsing: body).object else { return nil }
            self.fields = fields.mapValues { $0.string ?? $0.description }
        case "application/x-www-form-urlencoded":
            let pairs = QueryItems.items(Substring(decoding: body, as: UTF8.self))
            fields = Dictionary(pairs.map { ($0.name, $0.value) }) { _, last in last }
        default:
            return nil
        }
    }

    var fieldErrors: [FieldError] {
        var fieldErrors: [FieldError] = []
        if fields["name", default: ""].isEmpty {
            fieldErrors.append(FieldError(field: "name", message: "must not be empty"))
        }
        let address = fields["email", default: ""].split(separator: "@", omittingEmptySubsequences: false)
        if address.count != 2 || address[0].isEmpty || !address[1].contains(".") {
            fieldErrors.append(FieldError(field: "email", message: "must be an address such as ana@example.com"))
        }
        if let photoType, !photoType.hasPrefix("image/") {
            fieldErrors.append(FieldError(field: "photo", message: "must be an image"))
        }
        return fieldErrors
    }
}
