/// A response as the transport hands it over: head, body, and how the transfer went.
public struct TransferResponse: Sendable {
    /// Status and header fields, in the order received and as received: where the body was decoded,
    /// `Content-Encoding` and `Content-Length` still tell of the encoded one.
    public var head: HTTPResponse
    /// The decoded body: whole with `Delivery.collect`, to be read with `Delivery.stream`, empty with `Delivery.file`.
    public var body: HTTPBody
    /// The URL that answered, after redirects.
    public var url: String
    /// Informational (1xx) responses that came before.
    public var interim: [HTTPResponse]
    /// Phases, sizes and connection of the last hop.
    public var metrics: TransferMetrics

    /// Describes a response.
    public init(
        head: HTTPResponse,
        body: HTTPBody = HTTPBody(),
        url: String,
        interim: [HTTPResponse] = [],
        metrics: TransferMetrics = TransferMetrics()
    ) {
        self.head = head
        self.body = body
        self.url = url
        self.interim = interim
        self.metrics = metrics
    }
}
