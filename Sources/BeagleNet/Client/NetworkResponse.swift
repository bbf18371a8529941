public import BeagleNetCache
public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A whole response.
public struct NetworkResponse: Sendable {
    /// The decoded body.
    public var data: Data
    /// Status and header fields.
    public var response: HTTPResponse {
        get { rawHead.head }
        set { rawHead = RawHead(newValue) }
    }
    /// The status alone, for which no header fields are made.
    public var status: HTTPResponse.Status { rawHead.status }
    /// What `Content-Type` says, for which no other fields are made.
    package var contentType: String? { rawHead.contentType }
    /// Whether it says this and no more.
    package func hasContentType(_ type: StaticString) -> Bool { rawHead.hasContentType(type) }
    package private(set) var rawHead: RawHead
    /// The URL that answered, after redirects; empty where the client does not tell.
    public var url: String
    /// Where the time went; all zero where the client does not tell.
    public var metrics: TransferMetrics {
        _read { yield sharedMetrics.value }
        _modify { yield &sharedMetrics.value }
    }
    /// Behind a reference, as every task that waits for a response has room for one.
    private var sharedMetrics: CopyOnWrite<TransferMetrics>
    /// The part that stored responses had in this one; `nil` if no cache was asked.
    public var cacheStatus: CacheStatus? {
        get { sharedCacheStatus?.value }
        set { sharedCacheStatus = newValue.map { CopyOnWrite($0) } }
    }
    /// Behind a reference, for the same reason.
    private var sharedCacheStatus: CopyOnWrite<CacheStatus>?
    /// The fields behind the body (RFC 9110, 6.5), none of which counts as one of `response`.
    public var trailers: HTTPFields
    /// Informational (1xx) answers that came before.
    package private(set) var interim: [HTTPResponse]

    /// Describes a response.
    public init(
        data: Data = Data(),
        response: HTTPResponse = HTTPResponse(status: .ok),
        url: String = "",
        metrics: TransferMetrics = TransferMetrics(),
        trailers: HTTPFields = [:]
    ) {
        self.data = data
        rawHead = RawHead(response)
        self.url = url
        sharedMetrics = CopyOnWrite(metrics)
        self.trailers = trailers
        interim = []
    }

    /// A response that a transport collected.
    package init(_ response: consuming TransferResponse) {
        data = response.body.data ?? Data()
        rawHead = response.rawHead
        url = response.url
        sharedMetrics = response.sharedMetrics
        trailers = response.trailers
        interim = response.interim
    }

    /// A response of this text, as UTF-8.
    public init(text: String, status: HTTPResponse.Status = .ok) {
        let fields: HTTPFields = [.contentType: "text/plain; charset=utf-8"]
        self.init(data: Data(text.utf8), response: HTTPResponse(status: status, headerFields: fields))
    }

    /// A response of this JSON value.
    ///
    /// - Throws: `NetworkError` where the value holds a number that JSON cannot write.
    public init(json: JSONValue, status: HTTPResponse.Status = .ok) throws(NetworkError) {
        let fields: HTTPFields = [.contentType: "application/json"]
        self.init(data: try json.data(), response: HTTPResponse(status: status, headerFields: fields))
    }

    /// The response that an error of kind `.status` holds.
    package init?(of error: NetworkError) {
        guard error.kind == .status, let response = error.response else { return nil }
        self.init(
            data: error.data ?? Data(),
            response: response,
            url: error.url ?? "",
            metrics: error.metrics ?? TransferMetrics()
        )
    }

    /// The body as text, in the charset that `Content-Type` names, else UTF-8. A byte order mark is left out.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` where the charset is unknown or the bytes are not of it.
    public func text() throws(NetworkError) -> String {
        let charset = response.charset
        guard let encoding = String.Encoding(charset: charset) else {
            throw NetworkError(.decoding, during: .decode, "the charset \(charset) is unknown", of: self)
        }
        guard let text = String(bytes: data, encoding: encoding) else {
            throw NetworkError(.decoding, during: .decode, "the body is not \(charset) text", of: self)
        }
        return text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
    }

    /// The body as a JSON value.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` that names the place of the fault.
    public func json() throws(NetworkError) -> JSONValue {
        do {
            return try JSONValue(parsing: data)
        } catch {
            throw error.holding(self)
        }
    }

    /// Makes a value of the body.
    ///
    /// - Parameters:
    ///   - type: what to make.
    ///   - decoder: how; a `JSONBodyDecoder` by default.
    /// - Throws: `NetworkError` of kind `.decoding` that names the place of the fault.
    public func decode<Value: Decodable>(
        as type: Value.Type = Value.self,
        with decoder: any BodyDecoder = JSONBodyDecoder()
    ) throws(NetworkError) -> Value {
        do {
            return try decoder.decode(type, from: data)
        } catch {
            throw NetworkError(decoding: type, failedWith: error).holding(self)
        }
    }

    /// The response where its status is in 200...299, else the failure that holds it.
    func result() -> Result<NetworkResponse, NetworkError> {
        status.kind == .successful ? .success(self) : .failure(refusal())
    }

    /// The failure that holds this response.
    package func refusal(of request: HTTPRequest? = nil) -> NetworkError {
        var error = NetworkError(
            .status,
            during: .response,
            "the server returned \(status)",
            advice: response.advice,
            underlying: NetworkClientDefault.ClientError.invalidHttpResponse
        ).holding(self)
        error.request = request
        return error
    }
}

extension NetworkError {
    package func holding(_ response: NetworkResponse) -> NetworkError {
        var error = self
        error.response = response.response
        error.data = response.data
        if !response.url.isEmpty { error.url = response.url }
        error.metrics = response.metrics
        return error
    }

    fileprivate init(_ kind: Kind, during phase: Phase, _ message: String, of response: NetworkResponse) {
        self = NetworkError(kind, during: phase, message).holding(response)
    }
}

extension HTTPResponse {
    /// The charset parameter of `Content-Type`, else UTF-8 (RFC 9110, 8.3.2).
    fileprivate var charset: String {
        let parameters = (headerFields[single: .contentType] ?? "").split(separator: ";").dropFirst()
        for parameter in parameters {
            let parts = parameter.split(separator: "=", maxSplits: 1).map { part in
                part.filter { !$0.isWhitespace && $0 != "\"" }.lowercased()
            }
            if parts.count == 2 && parts[0] == "charset" { return parts[1] }
        }
        return "utf-8"
    }

    /// What a person can do about a status outside 200...299.
    fileprivate var advice: String? {
        switch status.code {
        case 304: "use the stored copy, which is still valid"
        case 300..<400: "allow redirects, or request the URL in Location"
        case 401: DigestChallenge.obstacle(in: headerFields) ?? "provide valid credentials"
        case 407: "provide valid proxy credentials"
        case 403: "use credentials that allow this request"
        case 404, 410: "check the path and the base URL"
        case 429, 503: headerFields[single: .retryAfter].map { "try again after \($0)" } ?? "try again later"
        case 500...: "check the server's log"
        default: nil
        }
    }
}

extension String.Encoding {
    /// By the names of the IANA registry, in lower case.
    fileprivate init?(charset: String) {
        switch charset {
        case "utf-8", "utf8": self = .utf8
        case "us-ascii", "ascii": self = .ascii
        case "iso-8859-1", "latin1": self = .isoLatin1
        case "utf-16": self = .utf16
        case "utf-16le": self = .utf16LittleEndian
        case "utf-16be": self = .utf16BigEndian
        default: return nil
        }
    }
}

extension NetworkResponse: CustomStringConvertible, CustomReflectable {
    /// Status, URL, fields and body, with their secrets replaced. Of a body that is no text, its size and type.
    public var description: String {
        let redactor = Beagle.dependencies.redactor
        return redactor.shown(response, from: url, data.isEmpty ? nil : redactor.shown(data, contentType: contentType))
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
