import BeagleNetHTTP

extension [FormField] {
    /// Returns the fields to send.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` for a field without a name or a required field without a value.
    func sent(_ emptyFields: HttpRequestBuilder.EmptyFields) throws(NetworkError) -> [FormField] {
        for (index, field) in enumerated() where field.name.isEmpty {
            throw .badRequest("form field \(index + 1) has no name", "give every field a name")
        }
        try checkRequired()
        return emptyFields == .keep ? self : filter { !$0.isEmpty }
    }

    /// Throws an error if a required field is empty.
    func checkRequired() throws(NetworkError) {
        if let missing = first(where: { $0.isRequired && $0.isEmpty }) {
            throw .badRequest("the form field \(missing.name) is required but empty", "fill it in")
        }
    }

    /// Throws an error if a field is a file, which a query, JSON or a URL-encoded body can't contain.
    func checkNoFiles() throws(NetworkError) {
        if let field = first(where: { $0.file != nil }) {
            throw .badRequest(
                "the form field \(field.name) is a file, which requires a multipart form",
                "submit the form as multipart with POST or PUT"
            )
        }
    }

    /// The fields as query items.
    var queryItems: [URLQueryItem] {
        map { URLQueryItem(name: $0.name, value: $0.value.formText) }
    }

    /// Returns the fields as `application/x-www-form-urlencoded`.
    func urlEncoded(_ encoding: PercentEncoding = .form) -> String {
        map { "\(encoding.encode($0.name))=\(encoding.encode($0.value.formText))" }.joined(separator: "&")
    }

    /// The fields as one object, with an array for the values of a repeated name.
    var object: JSONValue {
        .object(
            Dictionary(grouping: self, by: \.name).mapValues { fields in
                fields.count == 1 ? fields[0].value : .array(fields.map(\.value))
            }
        )
    }
}

extension FormField {
    /// Whether the field has neither a file nor a value.
    var isEmpty: Bool { file == nil && (value == .null || value == .string("")) }
}

extension JSONValue {
    /// The value as a query or URL-encoded form writes it: text unchanged, null as empty text, any other value as JSON.
    var formText: String {
        switch self {
        case .null: ""
        case .string(let text): text
        default: description
        }
    }
}
