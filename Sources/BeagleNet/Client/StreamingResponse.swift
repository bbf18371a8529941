public import BeagleNetCache
public import BeagleNetHTTP

/// A response whose body hasn't been read yet.
public struct StreamingResponse: Sendable {
    /// The status and header fields, whatever the status.
    public var response: HTTPResponse
    /// The decoded body, read incrementally.
    ///
    /// Reading slowly slows the server down. The transfer ends when the app stops reading and releases the body.
    public var body: HTTPBody
    /// The URL of the response, after redirects; empty if the client doesn't report it.
    public var url: String
    /// The informational (1xx) responses before this one.
    package private(set) var interim: [HTTPResponse] = []
    /// The part that stored responses had in the response; `nil` without a `CacheInterceptor`.
    public var cacheStatus: CacheStatus?
    private let end: @Sendable () -> TransferResponse.End

    /// The time spent in each phase; all zero if the client doesn't report it.
    ///
    /// Until the body has ended, the times end with the head.
    public var metrics: TransferMetrics { end().metrics }
    /// The trailer fields (RFC 9110, 6.5), available after the body has ended; empty if the client doesn't report them.
    public var trailers: HTTPFields { end().trailers }

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - response: The status and header fields.
    ///   - body: The decoded body.
    ///   - url: The URL of the response.
    ///   - end: Called for `metrics` and `trailers` each time.
    public init(
        response: HTTPResponse,
        body: HTTPBody,
        url: String = "",
        end: @escaping @Sendable () -> TransferResponse.End = { TransferResponse.End() }
    ) {
        self.response = response
        self.body = body
        self.url = url
        self.end = end
    }

    /// Creates a response from one that a transport has begun to receive.
    package init(_ response: TransferResponse) {
        self.init(response: response.head, body: response.body, url: response.url) {
            TransferResponse.End(metrics: response.metrics, trailers: response.trailers)
        }
        interim = response.interim
    }

    /// Creates a response with a body that is complete.
    package init(_ response: NetworkResponse) {
        self.init(response: response.response, body: HTTPBody(response.data), url: response.url) {
            TransferResponse.End(metrics: response.metrics, trailers: response.trailers)
        }
        cacheStatus = response.cacheStatus
    }

    /// The response as far as it is known, with no data.
    var withoutBody: NetworkResponse {
        var head = NetworkResponse(response: response, url: url, metrics: metrics)
        head.cacheStatus = cacheStatus
        return head
    }

    /// Reads the rest of the body and returns the complete response.
    ///
    /// - Parameter limit: The maximum size of the body, 256 MiB by default.
    /// - Throws: `NetworkError` of kind `.tooLarge` if the body exceeds `limit`, or the error that ended the body
    ///   early.
    public func collect(upTo limit: Int = 256 << 20) async throws(NetworkError) -> NetworkResponse {
        let data = try await body.collect(upTo: limit)
        let end = end()
        var whole = NetworkResponse(
            data: data,
            response: response,
            url: url,
            metrics: end.metrics,
            trailers: end.trailers
        )
        whole.cacheStatus = cacheStatus
        return whole
    }
}

extension StreamingResponse: CustomStringConvertible, CustomReflectable {
    /// The status, URL and header fields, with secrets redacted.
    public var description: String { Beagle.dependencies.redactor.redactedDescription(of: response, from: url, nil) }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
