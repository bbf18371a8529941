public import BeagleNet
import BeagleNetHTTP

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension URLRequest {
    /// Creates a request with this head, which bypasses all caches and times out after 100 s without data.
    ///
    /// Fields of the same name are joined with commas, those of `Cookie` with semicolons. `URLSession` adds
    /// `User-Agent`, `Accept`, `Accept-Language` and others if they are missing.
    ///
    /// - Throws: `NetworkError` during `.build` if the head has no http or https URL.
    public init(_ message: HTTPRequest) throws(NetworkError) {
        guard message.scheme == "http" || message.scheme == "https" else {
            throw NetworkError(
                .unsupportedScheme,
                during: .build,
                "the scheme \(message.scheme ?? "") is not supported",
                advice: "use http or https"
            )
        }
        let url = try URLReference(message.urlText).url()
        guard url.host(percentEncoded: true)?.isEmpty == false else {
            throw NetworkError(.badURL, during: .build, "the request has no host")
        }
        self.init(url: url, cachePolicy: .reloadIgnoringLocalAndRemoteCacheData, timeoutInterval: 100)
        httpMethod = message.method.rawValue
        for field in message.headerFields where field.name != .cookie {
            addValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        if let cookies = message.headerFields[.cookie] { setValue(cookies, forHTTPHeaderField: "Cookie") }
    }

    /// Creates a request with the head and body of a transfer; options and delivery are not included.
    ///
    /// - Throws: `NetworkError` during `.build` if the head has no http or https URL, or the body isn't in memory.
    public init(_ transfer: TransferRequest) throws(NetworkError) {
        try self.init(transfer.head)
        guard let body = transfer.body else { return }
        guard let data = body.data else {
            throw NetworkError(
                .badRequest,
                during: .build,
                "a URLRequest cannot hold a body from a file or stream",
                advice: "collect the body first, or send the request with a transport"
            )
        }
        httpBody = data
    }
}

extension HTTPRequest {
    /// Creates the head of a request, with its fields sorted by name.
    ///
    /// Returns `nil` if the request has no absolute URL with a host, or its method isn't a valid token.
    public init?(_ request: URLRequest) {
        guard let url = request.url?.absoluteURL, url.scheme != nil, url.host(percentEncoded: true) != nil,
            let method = Method(rawValue: request.httpMethod ?? "GET")
        else { return nil }
        self.init(method: method, url: url, headerFields: HTTPFields(request.allHTTPHeaderFields ?? [:]))
    }
}

extension TransferRequest {
    /// Creates a transfer from a request, whose timeout becomes `firstByte` and `idle`, because it limits the time
    /// between two bytes.
    ///
    /// - Throws: `NetworkError` during `.build` if the request has no absolute URL, its method isn't a valid token, or
    ///   its body is a stream.
    public init(_ request: URLRequest) throws(NetworkError) {
        guard request.httpBodyStream == nil else {
            throw NetworkError(
                .badRequest,
                during: .build,
                "the body of the URLRequest is a stream, which can be read only once and on one thread",
                advice: "set the bytes as httpBody"
            )
        }
        guard let head = HTTPRequest(request) else {
            throw NetworkError(
                .badURL,
                during: .build,
                "the URLRequest has no absolute URL, or its method is not a token"
            )
        }
        var options = TransferOptions()
        options.timeouts.firstByte = .seconds(request.timeoutInterval)
        options.timeouts.idle = options.timeouts.firstByte
        self.init(head, body: request.httpBody.map { HTTPBody($0) }, options: options)
    }
}

extension HTTPFields {
    /// Creates fields from a dictionary, sorted by name. Entries with an invalid name are ignored.
    init(_ fields: some Sequence<(key: String, value: String)>) {
        self.init()
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }
}
