public import BeagleNetHTTP

/// A request of the app: for a screen, an image, the submission of a form, or anything else.
public struct Request: Sendable {
    /// The URL, which is resolved against the builder's `baseURL` if it is a path that begins with `/`.
    public var url: URL
    /// The type of the request.
    public var type: RequestType
    /// The headers, and for screens also the method and body, from the reference to this request.
    public var additionalData: (any RemoteScreenAdditionalData)?
    /// The timeouts, limits and policies, or `nil` to use the client's.
    public var options: TransferOptions? {
        get { sharedOptions?.value }
        set { sharedOptions = newValue.map { CopyOnWrite($0) } }
    }
    /// The timeout of the whole call, including all attempts, redirects and waits between them, or `nil`, the default,
    /// for no limit.
    ///
    /// `options.timeouts` limit one attempt.
    public var timeout: Duration?
    /// Stored behind a reference, because most requests have no options and every task that makes a request reserves
    /// space for them.
    private var sharedOptions: CopyOnWrite<TransferOptions>?
    /// The operation of this request, for clients that forward only requests.
    package var forwardedOperation: (any AnyObject & Sendable)?
    /// The items to append to the query of `url`, with each byte outside RFC 3986's unreserved set percent-encoded.
    public var query: [URLQueryItem]

    /// Creates a request for a URL.
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

    /// The kinds of requests that a server-driven screen makes.
    public enum RequestType: Sendable {
        /// A screen or a part of one, in JSON.
        case fetchComponent
        /// The submission of a form: in the query for GET and DELETE, in the body for POST, PUT and
        /// PATCH (see `HttpAdditionalData.HttpData.method`).
        case submitForm(FormData)
        /// An image.
        case fetchImage
        /// Any method, headers and body.
        case rawRequest(RequestData)
    }
}

extension Request {
    /// The contents of a request that has only a type, a URL and header fields in ASCII. Equal contents make equal
    /// messages.
    package struct Plain: Sendable, Equatable {
        fileprivate enum Kind { case component, image, raw }

        fileprivate let url: URL
        fileprivate let kind: Kind
        fileprivate var method: String?
        fileprivate var headers: [String: String]?
        fileprivate let additionalHeaders: [String: String]
    }

    /// The contents of the request; `nil` if it has more than a type, a URL and header fields in ASCII.
    package var plain: Plain? {
        guard case nil = sharedOptions, query.isEmpty, let added = additionalHeaders, added.isASCII else { return nil }
        switch type {
        case .fetchComponent: return Plain(url: url, kind: .component, additionalHeaders: added)
        case .fetchImage: return Plain(url: url, kind: .image, additionalHeaders: added)
        case .rawRequest(let data):
            guard case nil = data.content, data.headers?.isASCII != false else { return nil }
            return Plain(url: url, kind: .raw, method: data.method, headers: data.headers, additionalHeaders: added)
        case .submitForm: return nil
        }
    }

    /// The headers of the additional data; `nil` if it has more than headers.
    private var additionalHeaders: [String: String]? {
        guard case let data? = additionalData else { return [:] }
        guard let data = data as? HttpAdditionalData, case nil = data.httpData else { return nil }
        return data.headers
    }
}

extension [String: String] {
    /// Whether all texts are in ASCII, so that equal ones have equal bytes. In Unicode, they may not.
    fileprivate var isASCII: Bool {
        allSatisfy { name, value in name.utf8.allSatisfy { $0 < 0x80 } && value.utf8.allSatisfy { $0 < 0x80 } }
    }
}

extension Request: CustomStringConvertible, CustomReflectable {
    /// The type, URL, headers and values of the request, with secrets redacted.
    public var description: String {
        let redactor = Redactor.standard
        var text = redactor.redact(url: url)
        for item in query { text += (text.contains("?") ? "&" : "?") + redactor.redactedDescription(of: item) }
        text =
            switch type {
            case .fetchComponent: "fetchComponent \(text)"
            case .fetchImage: "fetchImage \(text)"
            case .submitForm(let form): "submitForm \(text) \(form)"
            case .rawRequest(let data): "rawRequest \(data.shown(for: text))"
            }
        return additionalData.map { "\(text)\nadditional data: \($0)" } ?? text
    }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Redactor {
    /// Returns the text of a query item that isn't encoded yet, with secrets redacted.
    fileprivate func redactedDescription(of item: URLQueryItem) -> String {
        let value = item.value ?? ""
        return "\(item.name)=\(isSecret(name: item.name, length: value.count) ? Self.placeholder : redact(text: value))"
    }
}
