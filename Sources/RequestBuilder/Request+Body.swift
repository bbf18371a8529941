public import BeagleNetHTTP

extension Request {
    /// The body of a raw request, with its media type.
    public struct Body: Sendable {
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

        /// Returns a body with a JSON value, `application/json`.
        public static func json(_ value: JSONValue) -> Body {
            Body(content: .json(value), contentType: "application/json")
        }

        /// Returns a body with an encoded value, `application/json`.
        ///
        /// If `encoder` is `nil`, the builder's `bodyEncoder` is used. A value that can't be encoded is a build error.
        public static func encodable(
            _ value: any Encodable & Sendable,
            encoder: (any BodyEncoder)? = nil
        ) -> Body {
            Body(content: .encodable(value, encoder: encoder), contentType: "application/json")
        }

        /// Returns a body with these bytes, `application/octet-stream` by default.
        public static func data(_ data: Data, contentType: String = "application/octet-stream") -> Body {
            Body(content: .http(HTTPBody(data)), contentType: contentType)
        }

        /// Returns a body with this text in UTF-8, `text/plain` by default.
        public static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> Body {
            Body(content: .http(HTTPBody(text)), contentType: contentType)
        }

        /// Returns a body with URL-encoded fields in this order, `application/x-www-form-urlencoded`.
        ///
        /// A space becomes `+`, as in browsers (WHATWG URL Standard, 5.2).
        public static func form(_ fields: [FormField]) -> Body {
            Body(content: .form(fields), contentType: "application/x-www-form-urlencoded")
        }

        /// Returns a body with fields and files in this order, `multipart/form-data` with a random boundary.
        public static func multipart(_ fields: [FormField]) -> Body {
            let multipart = MultipartForm()
            return Body(content: .multipart(fields, multipart), contentType: multipart.contentType)
        }

        /// Returns a body with the contents of a file, `application/octet-stream` by default, which is never held in
        /// memory.
        public static func file(path: String, contentType: String = "application/octet-stream") -> Body {
            Body(content: .http(.file(path: path)), contentType: contentType)
        }

        /// Returns a body with any content, including a stream.
        public static func stream(_ body: HTTPBody, contentType: String = "application/octet-stream") -> Body {
            Body(content: .http(body), contentType: contentType)
        }

        /// Returns a body with a tree of Swift values that has already been converted, `application/json`.
        package static func tree(_ tree: JSONTree) -> Body {
            Body(content: .tree(tree), contentType: "application/json")
        }

        /// Returns a body with a tree of dictionaries, arrays, text, numbers and Booleans, encoded as JSON (see
        /// `RequestData`).
        static func value(_ value: any Sendable) -> Body {
            Body(content: .value(value), contentType: "application/json")
        }
    }
}

extension Request.Body {
    /// Returns the encoded body.
    ///
    /// - Parameters:
    ///   - encoder: The encoder of `Encodable` values without their own encoder.
    ///   - options: The writing options of JSON.
    ///   - form: The encoding of names and values in a URL-encoded form.
    /// - Throws: `NetworkError` of kind `.badRequest` that locates the value which can't be encoded.
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

extension Request.Body: CustomStringConvertible, CustomReflectable {
    /// The body, with secrets redacted.
    public var description: String {
        let redactor = Redactor.standard
        return switch content {
        case .json(let value): redactor.redactedDescription(of: value)
        case .tree(let tree): redactor.redactedDescription(of: tree)
        case .value(let value): redactor.redactedDescription(describing: value)
        case .encodable(let value, _): redactor.redactedDescription(describing: value)
        case .form(let fields), .multipart(let fields, _): fields.shown
        case .http(let body): redactor.redactedDescription(of: body, contentType: contentType)
        }
    }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Redactor {
    /// Returns a tree as JSON, or the reason why it can't be encoded.
    fileprivate func redactedDescription(of tree: JSONTree) -> String {
        do {
            return redactedDescription(of: try tree.data([]), contentType: "application/json")
        } catch {
            return "a body that is not JSON: \(error.message)"
        }
    }
}

/// An encoder of JSON bodies, such as `JSONEncoder`.
public protocol BodyEncoder: Sendable {
    /// Encodes a value as JSON.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: BodyEncoder {}
