public import BeagleNetHTTP

/// What the app asks for: a screen, an image, a form's submission, or anything else.
public struct Request: Sendable {
    /// Where to ask. A path that begins with `/` is put onto the builder's `baseURL`.
    public var url: URL
    /// What is asked for.
    public var type: RequestType
    /// Headers, and for screens method and body, that came with the reference to this request.
    public var additionalData: (any RemoteScreenAdditionalData)?
    /// Timeouts, limits and policies; nil takes the client's.
    public var options: TransferOptions? {
        get { sharedOptions?.value }
        set { sharedOptions = newValue.map { CopyOnWrite($0) } }
    }
    /// The longest that the whole call may take, with all attempts, redirects and waits between them; `nil`, the default,
    /// for no such limit. `options.timeouts` limit one attempt.
    public var timeout: Duration?
    /// Behind a reference, as most requests have none and every task that makes one has room for it.
    private var sharedOptions: CopyOnWrite<TransferOptions>?
    /// The operation that the request is of, for a client that hands on no more than requests.
    package var carried: (any AnyObject & Sendable)?
    /// Items put after the query that `url` has already, each byte outside RFC 3986's unreserved set encoded.
    public var query: [URLQueryItem]

    /// A request for what `url` names.
    public init(
        url: URL,
        type: RequestType,
        additionalData: (any RemoteScreenAdditionalData)? = nil,
        options: TransferOptions? = nil,
        query: [URLQueryItem] = []
    ) {
        self.url = url
        self.type = type
        self.additionalData = additionalData
        sharedOptions = options.map { CopyOnWrite($0) }
        self.query = query
    }

    /// The kinds of request that a server-driven screen makes.
    public enum RequestType: Sendable {
        /// A screen or a part of one, in JSON.
        case fetchComponent
        /// A form's values: in the query for GET and DELETE, in the body for POST and PUT.
        case submitForm(FormData)
        /// An image.
        case fetchImage
        /// Any method, headers and body.
        case rawRequest(RequestData)
    }
}

extension Request: CustomStringConvertible, CustomReflectable {
    /// What is asked for, from where, with which headers and values. Secrets in it are replaced.
    public var description: String {
        let redactor = Redactor.standard
        var text = redactor.redact(url: url)
        for item in query { text += (text.contains("?") ? "&" : "?") + redactor.shown(item) }
        text =
            switch type {
            case .fetchComponent: "fetchComponent \(text)"
            case .fetchImage: "fetchImage \(text)"
            case .submitForm(let form): "submitForm \(text) \(form)"
            case .rawRequest(let data): "rawRequest \(data.shown(for: text))"
            }
        return additionalData.map { "\(text)\nadditional data: \($0)" } ?? text
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Redactor {
    /// An item of a query that is not encoded yet.
    fileprivate func shown(_ item: URLQueryItem) -> String {
        let value = item.value ?? ""
        return "\(item.name)=\(isSecret(name: item.name, length: value.count) ? Self.placeholder : redact(text: value))"
    }
}
