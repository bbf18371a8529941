/// Descriptions of values that may contain secrets.
extension Redactor {
    /// The maximum number of characters shown of a body.
    private static let maxDescriptionCharacters = 2_000

    /// Returns header fields, one per line, with secrets redacted.
    package func redactedDescription(of fields: HTTPFields) -> String {
        redact(fields).map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }

    /// Returns header fields by name, one per line, with secrets redacted.
    package func redactedDescription(of headers: [String: String]) -> String {
        let fields = headers.sorted { $0.key < $1.key }.map { name, value in
            HTTPField.Name(name).map { redactedDescription(of: [$0: value]) }
                ?? "\(redact(text: name)): \(Self.placeholder)"
        }
        return fields.joined(separator: "\n")
    }

    /// Returns the redacted text of a body, or its size and type if it isn't text or is too long.
    package func redactedDescription(of body: Data, contentType: String?) -> String {
        guard !body.isEmpty, body.count <= TextScan.window,
            let redacted = redact(body: body, contentType: contentType).data,
            let text = String(validating: redacted, as: UTF8.self)
        else { return summary(of: body, contentType: contentType) }
        guard text.count > Self.maxDescriptionCharacters else { return text }
        return "\(text.prefix(Self.maxDescriptionCharacters))… (\(summary(of: body, contentType: contentType)))"
    }

    /// Returns a description of a body, which may be a file or a stream.
    package func redactedDescription(of body: HTTPBody, contentType: String?) -> String {
        switch body.content {
        case .data(let data): redactedDescription(of: data, contentType: contentType)
        case .file(let path): "the file \(path)"
        case .stream(let length, _, _): length.map { "a stream of \(counted(Int($0), "byte"))" } ?? "a stream"
        }
    }

    /// Returns a JSON value as redacted text.
    package func redactedDescription(of json: JSONValue) -> String {
        redactedDescription(of: Data("\(json)".utf8), contentType: "application/json")
    }

    /// Returns the redacted description of a value of the app.
    package func redactedDescription(describing value: Any) -> String {
        redactedDescription(of: Data(String(describing: value).utf8), contentType: nil)
    }

    /// Returns a message in the form of HTTP/1.1: a first line, fields, an empty line and a body.
    ///
    /// Empty parts are left out.
    package func messageDescription(_ line: String, _ fields: String, _ body: String?) -> String {
        let head = fields.isEmpty ? line : "\(line)\n\(fields)"
        return body.map { "\(head)\n\n\($0)" } ?? head
    }

    /// Returns a redacted request in the form of HTTP/1.1.
    package func redactedDescription(of request: TransferRequest) -> String {
        let head = request.head
        let body = request.body.map { redactedDescription(of: $0, contentType: head.headerFields[.contentType]) }
        return messageDescription(
            "\(head.method) \(redact(url: head.urlText))",
            redactedDescription(of: head.headerFields),
            body
        )
    }

    /// Returns a redacted response in the form of HTTP/1.1.
    package func redactedDescription(of head: HTTPResponse, from url: String, _ body: String?) -> String {
        let reason = head.status.reasonPhrase.isEmpty ? "" : " \(redact(text: head.status.reasonPhrase))"
        let origin = url.isEmpty ? "" : " from \(redact(url: url))"
        return messageDescription(
            "\(head.status.code)\(reason)\(origin)",
            redactedDescription(of: head.headerFields),
            body
        )
    }
}
