public import BeagleNetCache
public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A complete response.
public struct NetworkResponse: Sendable {
    /// The decoded body.
    public var data: Data
    /// The status and header fields.
    public var response: HTTPResponse {
        get { rawHead.head }
        set {
            // The old head may hold the status.
            cacheStatus = cacheStatus
            rawHead = RawHead(newValue)
        }
    }
    /// The status, available without creating the other header fields.
    public var status: HTTPResponse.Status { rawHead.status }
    /// The value of `Content-Type`, available without creating the other header fields.
    package var contentType: String? { rawHead.contentType }
    /// Returns whether `Content-Type` is exactly `type`.
    package func hasContentType(_ type: StaticString) -> Bool { rawHead.hasContentType(type) }
    package private(set) var rawHead: RawHead
    /// The URL of the response, after redirects; empty if the client doesn't report it.
    public var url: String
    /// The time spent in each phase; all zero if the client doesn't report it.
    public var metrics: TransferMetrics {
        _read { yield sharedMetrics.value }
        _modify { yield &sharedMetrics.value }
    }
    /// Stored behind a reference, because every task that waits for a response reserves space for one.
    private var sharedMetrics: CopyOnWrite<TransferMetrics>
    /// The part that stored responses had in this one; `nil` if no cache was asked.
    public var cacheStatus: CacheStatus? {
        get { sharedCacheStatus?.value ?? rawHead.freshness.map { CacheStatus($0) } }
        set {
            if newValue == nil, rawHead.freshness != nil { rawHead = RawHead(rawHead.head) }
            sharedCacheStatus = newValue.map { CopyOnWrite($0) }
        }
    }
    /// Behind a reference, for the same reason; `nil` if the head alone determines it.
    private var sharedCacheStatus: CopyOnWrite<CacheStatus>?
    /// The trailer fields (RFC 9110, 6.5), which aren't among the header fields of `response`.
    public var trailers: HTTPFields
    /// The informational (1xx) responses before this one.
    package private(set) var interim: [HTTPResponse]

    /// Creates a response.
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

    /// Creates a response from a store.
    init(stored head: RawHead, _ body: Data, url: String, trailers: HTTPFields) {
        data = body
        rawHead = head
        self.url = url
        sharedMetrics = Self.noMetrics
        self.trailers = trailers
        interim = []
    }

    private static let noMetrics = CopyOnWrite(TransferMetrics())

    /// Creates a response from one that a transport collected.
    package init(_ response: consuming TransferResponse) {
        data = response.body.data ?? Data()
        rawHead = response.rawHead
        url = response.url
        sharedMetrics = response.sharedMetrics
        trailers = response.trailers
        interim = response.interim
    }

    /// Creates a response with this text, as UTF-8.
    public init(text: String, status: HTTPResponse.Status = .ok) {
        let fields: HTTPFields = [.contentType: "text/plain; charset=utf-8"]
        self.init(data: Data(text.utf8), response: HTTPResponse(status: status, headerFields: fields))
    }

    /// Creates a response with this JSON value.
    ///
    /// - Throws: `NetworkError` if the value contains a number that JSON can't represent.
    public init(json: JSONValue, status: HTTPResponse.Status = .ok) throws(NetworkError) {
        let fields: HTTPFields = [.contentType: "application/json"]
        self.init(data: try json.data(), response: HTTPResponse(status: status, headerFields: fields))
    }

    /// Creates the response that an error of kind `.status` contains.
    package init?(of error: NetworkError) {
        guard error.kind == .status, let response = error.response else { return nil }
        self.init(
            data: error.data ?? Data(),
            response: response,
            url: error.url ?? "",
            metrics: error.metrics ?? TransferMetrics()
        )
    }

    /// Returns the body as text, in the charset of `Content-Type`, or UTF-8 by default, without a byte order mark.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` if the charset is unknown or the bytes aren't valid in it.
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

    /// Returns the body as a JSON value.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` with the position of the fault.
    public func json() throws(NetworkError) -> JSONValue {
        do {
            return try JSONValue(parsing: data)
        } catch {
            throw error.attaching(self)
        }
    }

    /// Decodes the body.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: The decoder, a `JSONBodyDecoder` by default.
    /// - Throws: `NetworkError` of kind `.decoding` with the coding path of the fault.
    public func decode<Value: Decodable>(
        as type: Value.Type = Value.self,
        with decoder: any BodyDecoder = JSONBodyDecoder()
    ) throws(NetworkError) -> Value {
        do {
            return try decoder.decode(type, from: data)
        } catch {
            throw NetworkError(decoding: type, failedWith: error).attaching(self)
        }
    }

    /// Returns the response if its status is in 200...299, otherwise an error that contains it.
    func result() -> Result<NetworkResponse, NetworkError> {
        status.kind == .successful ? .success(self) : .failure(statusError())
    }

    /// Returns an error that contains this response.
    package func statusError(for request: HTTPRequest? = nil) -> NetworkError {
        var error = NetworkError(
            .status,
            during: .response,
            "the server returned \(status)",
            advice: response.advice,
            underlying: NetworkClientDefault.ClientError.invalidHttpResponse
        ).attaching(self)
        error.request = request
        return error
    }
}

extension NetworkError {
    package func attaching(_ response: NetworkResponse) -> NetworkError {
        var error = self
        error.response = response.response
        error.data = response.data
        if !response.url.isEmpty { error.url = response.url }
        error.metrics = response.metrics
        return error
    }

    fileprivate init(_ kind: Kind, during phase: Phase, _ message: String, of response: NetworkResponse) {
        self = NetworkError(kind, during: phase, message).attaching(response)
    }
}

extension HTTPResponse {
    /// The charset parameter of `Content-Type`, or UTF-8 by default (RFC 9110, 8.3.2).
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

    /// The advice to the user about a status outside 200...299.
    fileprivate var advice: String? {
        switch status.code {
        case 304: "use the stored copy, which is still valid"
        case 300..<400: "allow redirects, or request the URL in Location"
        case 401: DigestChallenge.unsupportedReason(in: headerFields) ?? "provide valid credentials"
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
    /// Creates an encoding from its name in the IANA registry, in lower case.
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
    /// The status, URL, header fields and body, with secrets redacted, or for a binary body its size and type.
    public var description: String {
        let redactor = Beagle.dependencies.redactor
        return redactor.redactedDescription(
            of: response,
            from: url,
            data.isEmpty ? nil : redactor.redactedDescription(of: data, contentType: contentType)
        )
    }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
