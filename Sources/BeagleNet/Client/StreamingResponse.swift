public import BeagleNetHTTP

/// A response whose body is still to be read.
public struct StreamingResponse: Sendable {
    /// Status and header fields; any status.
    public var response: HTTPResponse
    /// The decoded body, read as it comes: whoever reads slowly slows the server down, whoever stops reading and lets
    /// it go ends the transfer.
    public var body: HTTPBody
    /// The URL that answered, after redirects; empty where the client does not tell.
    public var url: String
    /// Informational (1xx) answers that came before.
    package private(set) var interim: [HTTPResponse] = []
    private let end: @Sendable () -> TransferEnd

    /// Where the time went: up to the head until the body has ended, then in all. All zero where the client does not
    /// tell.
    public var metrics: TransferMetrics { end().metrics }
    /// The fields behind the body, once it has ended (RFC 9110, 6.5); none where the client does not tell.
    public var trailers: HTTPFields { end().trailers }

    /// Describes a response.
    ///
    /// - Parameters:
    ///   - response: status and header fields.
    ///   - body: the decoded body.
    ///   - url: the URL that answered.
    ///   - end: asked for `metrics` and `trailers` each time.
    public init(
        response: HTTPResponse,
        body: HTTPBody,
        url: String = "",
        end: @escaping @Sendable () -> TransferEnd = { TransferEnd() }
    ) {
        self.response = response
        self.body = body
        self.url = url
        self.end = end
    }

    /// A response that a transport began to receive.
    package init(_ response: TransferResponse) {
        self.init(response: response.head, body: response.body, url: response.url) {
            TransferEnd(metrics: response.metrics, trailers: response.trailers)
        }
        interim = response.interim
    }

    /// A whole response, to be read.
    package init(_ response: NetworkResponse) {
        self.init(response: response.response, body: HTTPBody(response.data), url: response.url) {
            TransferEnd(metrics: response.metrics, trailers: response.trailers)
        }
    }

    /// The whole response in memory.
    ///
    /// - Parameter limit: the most bytes to take, 256 MiB by default.
    /// - Throws: `NetworkError` of kind `.tooLarge` beyond `limit`, or what ended the body early.
    public func collect(upTo limit: Int = 256 << 20) async throws(NetworkError) -> NetworkResponse {
        let data = try await body.collect(upTo: limit)
        let end = end()
        return NetworkResponse(
            data: data,
            response: response,
            url: url,
            metrics: end.metrics,
            trailers: end.trailers
        )
    }
}

extension StreamingResponse: CustomStringConvertible, CustomReflectable {
    /// Status, URL and fields, with their secrets replaced.
    public var description: String { Beagle.dependencies.redactor.shown(response, from: url, nil) }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
