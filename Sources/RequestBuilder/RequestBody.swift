public import BeagleNetHTTP

/// The body of a raw request, with the media type that it brings along.
public struct RequestBody: Sendable {
    enum Content: Sendable {
        case json(JSONValue)
        case tree(JSONTree)
        case value(any Sendable)
        case encodable(any Encodable & Sendable, encoder: (any BodyEncoder)?)
        case form([FormField])
        case multipart([FormField], MultipartForm)
        case http(HTTPBody)
    }

    let content: Content
    let contentType: String?

    /// A JSON value, `application/json`.
    public static func json(_ value: JSONValue) -> RequestBody {
        RequestBody(content: .json(value), contentType: "application/json")
    }

    /// A value that `encoder` writes as JSON, `application/json`; the builder's `bodyEncoder` where nil. What it cannot
    /// write is a build error.
    public static func encodable(
        _ value: any Encodable & Sendable,
        encoder: (any BodyEncoder)? = nil
    ) -> RequestBody {
        RequestBody(content: .encodable(value, encoder: encoder), contentType: "application/json")
    }

    /// These bytes, `application/octet-stream` unless said otherwise.
    public static func data(_ data: Data, contentType: String = "application/octet-stream") -> RequestBody {
        RequestBody(content: .http(HTTPBody(data)), contentType: contentType)
    }

    /// This text in UTF-8, `text/plain` unless said otherwise.
    public static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> RequestBody {
        RequestBody(content: .http(HTTPBody(text)), contentType: contentType)
    }

    /// URL-encoded fields in this order, `application/x-www-form-urlencoded`, with `+` for a space as browsers write
    /// it (WHATWG URL Standard, 5.2).
    public static func form(_ fields: [FormField]) -> RequestBody {
        RequestBody(content: .form(fields), contentType: "application/x-www-form-urlencoded")
    }

    /// Fields and files in this order, `multipart/form-data` with a random boundary.
    public static func multipart(_ fields: [FormField]) -> RequestBody {
        let multipart = MultipartForm()
        return RequestBody(content: .multipart(fields, multipart), contentType: multipart.contentType)
    }

    /// The contents of a file, `application/octet-stream` unless said otherwise, never held in memory.
    public static func file(path: String, contentType: String = "application/octet-stream") -> RequestBody {
        RequestBody(content: .http(.file(path: path)), contentType: contentType)
    }

    /// Any body, a streamed one as well.
    public static func stream(_ body: HTTPBody, contentType: String = "application/octet-stream") -> RequestBody {
        RequestBody(content: .http(body), contentType: contentType)
    }

    /// A tree of Swift values that was converted already, `application/json`.
    package static func tree(_ tree: JSONTree) -> RequestBody {
        RequestBody(content: .tree(tree), contentType: "application/json")
    }

    /// A tree of dictionaries, arrays, text, numbers and truth values, written as JSON (see `RequestData`).
    static func value(_ value: any Sendable) -> RequestBody {
        RequestBody(content: .value(value), contentType: "application/json")
    }
}

extension RequestBody {
    /// The body as it is sent.
    ///
    /// - Parameters:
    ///   - encoder: what writes `Encodable` values that bring no encoder.
    ///   - options: how JSON is written.
    ///   - form: how names and values of a URL-encoded form are written.
    /// - Throws: `NetworkError` of kind `.badRequest` that names the place of what cannot be written.
    func encoded(
        by encoder: any BodyEncoder,
        _ options: JSONValue.WritingOptions = [],
        form: PercentEncoding = .form
    ) throws(NetworkError) -> HTTPBody {
        switch content {
        case .json(let value): HTTPBody(try value.data(options))
        case .tree(let tree): HTTPBody(try tree.data(options))
        case .value(let value):
            HTTPBody(try JSONTree(converting: value, encode: { try encoder.encode($0) }).data(options))
        case .encodable(let value, let own): HTTPBody(try Self.encode(value, own ?? encoder))
        case .form(let fields): HTTPBody(try Self.urlEncoded(fields, form))
        case .multipart(let fields, let multipart): try multipart.body(of: fields.sent(.keep))
        case .http(let body): body
        }
    }

    private static func urlEncoded(
        _ fields: [FormField],
        _ encoding: PercentEncoding
    ) throws(NetworkError) -> String {
        let fields = try fields.sent(.keep)
        try fields.checkNoFiles()
        return fields.urlEncoded(encoding)
    }

    private static func encode(_ value: any Encodable, _ encoder: any BodyEncoder) throws(NetworkError) -> Data {
        do {
            return try encoder.encode(value)
        } catch let error as NetworkError {
            throw error
        } catch {
            let place = (error as? EncodingError)?.place ?? ""
            throw NetworkError(
                .badRequest,
                during: .build,
                "\(type(of: value)) could not be encoded as the body\(place)",
                advice: "see the underlying error",
                underlying: error
            )
        }
    }
}

extension EncodingError {
    fileprivate var place: String {
        guard case .invalidValue(_, let context) = self, !context.codingPath.isEmpty else { return "" }
        return " at " + context.codingPath.map(\.stringValue).joined(separator: ".")
    }
}

extension RequestBody: CustomStringConvertible, CustomReflectable {
    /// What is sent, with its secrets replaced.
    public var description: String {
        let redactor = Redactor.standard
        return switch content {
        case .json(let value): redactor.shown(value)
        case .tree(let tree): redactor.shown(tree)
        case .value(let value): redactor.shown(describing: value)
        case .encodable(let value, _): redactor.shown(describing: value)
        case .form(let fields), .multipart(let fields, _): fields.shown
        case .http(let body): redactor.shown(body, contentType: contentType)
        }
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Redactor {
    /// A tree as JSON, or why it can't be written.
    fileprivate func shown(_ tree: JSONTree) -> String {
        do {
            return shown(try tree.data([]), contentType: "application/json")
        } catch {
            return "a body that is not JSON: \(error.message)"
        }
    }
}
