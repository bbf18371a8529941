import BeagleNetHTTP

/// The method, query items, body and own headers of a request.
///
/// Only the standard rules use `accepted` and `headers`; `beagle1` ignores them.
struct RequestContent {
    var method: HTTPRequest.Method
    /// The media types that the app accepts.
    var accepted = HTTPField.acceptsJSON
    /// The request's own headers.
    var headers: [String: String]?
    var items: [URLQueryItem] = []
    var body: HTTPBody?
    var contentType: String?
}

extension HttpRequestBuilder {
    /// Returns the content of a request by the standard rules.
    func content(
        of request: Request,
        _ httpData: HttpAdditionalData.HttpData?
    ) throws(NetworkError) -> RequestContent {
        var content: RequestContent
        switch request.type {
        case .fetchComponent: content = RequestContent(method: try method(httpData?.method.rawValue))
        case .fetchImage:
            content = RequestContent(method: try method(httpData?.method.rawValue), accepted: .acceptsImages)
        case .submitForm(let form): content = try self.content(of: form, httpData)
        case .rawRequest(let data): content = try self.content(of: data, httpData)
        }
        if let data = httpData?.body, !data.isEmpty {
            try content.take(data, for: request.type)
        }
        try content.checkBody()
        return content
    }

    private func content(
        of form: Request.FormData,
        _ httpData: HttpAdditionalData.HttpData?
    ) throws(NetworkError) -> RequestContent {
        let fields = try form.fields.sent(emptyFields)
        var content = RequestContent(method: try method(form.method.rawValue))
        if httpData?.method == .PATCH {
            guard [.post, .put].contains(form.method) else { throw .patchWithoutBody(form.method) }
            content.method = .patch
        }
        let takesFiles = form.encoding == .multipart && [.post, .put].contains(form.method)
        if !takesFiles { try fields.checkNoFiles() }
        switch (form.method, form.encoding) {
        case (.get, _), (.delete, _):
            content.items = fields.queryItems
        case (_, .json):
            content.body = HTTPBody(try fields.object.data())
            content.contentType = "application/json"
        case (_, .urlEncoded):
            content.body = HTTPBody(fields.urlEncoded())
            content.contentType = "application/x-www-form-urlencoded"
        case (_, .multipart):
            let multipart = MultipartForm(boundary: form.boundary)
            content.body = try multipart.body(of: fields)
            content.contentType = multipart.contentType
        }
        return content
    }

    private func content(
        of data: Request.RequestData,
        _ httpData: HttpAdditionalData.HttpData?
    ) throws(NetworkError) -> RequestContent {
        let method = try method(data.method ?? httpData?.method.rawValue)
        var content = RequestContent(method: method, accepted: .acceptsAnything, headers: data.headers)
        if let body = data.content {
            content.body = try body.encoded(by: bodyEncoder)
            content.contentType = body.contentType
        }
        return content
    }

    /// Returns the method with this name, or GET for `nil`.
    ///
    /// Methods are case-sensitive (RFC 9110, 9.1), but `get` is never meant to be anything but GET.
    private func method(_ name: String?) throws(NetworkError) -> HTTPRequest.Method {
        // Most requests by far use one of these.
        guard let name, name != "GET" else { return .get }
        if name == "POST" { return .post }
        let method = try HTTPRequest.Method(checking: name)
        let upper = name.uppercased()
        if name == upper { return method }
        let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"].contains(upper)
        return known ? try HTTPRequest.Method(checking: upper) : method
    }
}

extension NetworkError {
    fileprivate static func patchWithoutBody(_ method: FormRemoteAction.Method) -> NetworkError {
        .badRequest(
            "a \(method.rawValue) form sends its values in the query and cannot be sent by PATCH",
            "set the method of the form to POST"
        )
    }
}

/// The media types that the app accepts (RFC 9110, 12.5.1).
extension HTTPField {
    fileprivate static let acceptsJSON = HTTPField(name: .accept, value: "application/json")
    fileprivate static let acceptsImages = HTTPField(
        name: .accept,
        value: "image/avif,image/webp,image/png,image/jpeg,*/*;q=0.5"
    )
    fileprivate static let acceptsAnything = HTTPField(name: .accept, value: "*/*")
}

extension HTTPRequest.Method {
    /// Creates a method from its name.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` for a name that isn't a token, and for CONNECT.
    init(checking name: String) throws(NetworkError) {
        guard let method = HTTPRequest.Method(rawValue: name) else {
            throw .badRequest(
                "\(name.debugDescription) is not a valid method",
                "use GET, POST, PUT, PATCH, DELETE or HEAD"
            )
        }
        guard method != .connect else { throw .badRequest("CONNECT opens a tunnel and cannot be sent by an app") }
        self = method
    }
}

extension RequestContent {
    /// Sets the body to that of the additional data, or throws an error if the request can't have one.
    fileprivate mutating func take(_ data: Data, for type: Request.RequestType) throws(NetworkError) {
        guard body == nil else {
            throw .badRequest(
                "the request has two bodies: its own and the one in its additional data",
                "remove one of them"
            )
        }
        if case .submitForm = type {
            throw .badRequest(
                "a \(method.rawValue) form sends its values in the query and cannot have a body",
                bodyAdvice
            )
        }
        if Expression.occurs(inJSON: data) {
            throw .badRequest(
                "the body of the additional data contains an expression @{…} that was not evaluated",
                "evaluate it before sending the request, or write \\u0040 for a literal @"
            )
        }
        body = HTTPBody(data)
        contentType = "application/json"
    }

    /// Rejects a body with a method that gives it no meaning (RFC 9110, 9.3.1, 9.3.2, 9.3.8), and removes an empty
    /// body.
    fileprivate mutating func checkBody() throws(NetworkError) {
        guard body != nil, [.get, .head, .trace].contains(method) else { return }
        guard body?.length == 0 else {
            throw .badRequest("a \(method.rawValue) request cannot have a body", bodyAdvice)
        }
        body = nil
    }

    private var bodyAdvice: String { "send the values as query items, or use POST" }
}
