/// A response as the transport hands it over: head, body, and how the transfer went.
public struct TransferResponse: Sendable {
    /// Status and header fields, made when first asked for, in the order received and as received: where the body was
    /// decoded, `Content-Encoding` and `Content-Length` still tell of the encoded one.
    public var head: HTTPResponse {
        get { rawHead.head }
        set { rawHead = RawHead(newValue) }
    }
    /// The status alone, for which no header fields are made.
    public var status: HTTPResponse.Status { rawHead.status }
    /// The head as it is before anybody has asked for its fields.
    package var rawHead: RawHead
    /// The decoded body: whole with `Delivery.collect`, to be read with `Delivery.stream`, empty with `Delivery.file`.
    public var body: HTTPBody
    /// The URL that answered, after redirects.
    public var url: String
    /// Informational (1xx) responses that came before.
    public var interim: [HTTPResponse]
    private let metricsAtHandover: TransferMetrics
    private let metricsAtEnd: (@Sendable () -> TransferMetrics?)?

    /// Phases, sizes and connection of the last hop; with `Delivery.stream` up to the head, until the body has ended.
    public var metrics: TransferMetrics { metricsAtEnd?() ?? metricsAtHandover }

    /// Describes a response.
    ///
    /// - Parameters:
    ///   - head: status and header fields.
    ///   - body: the decoded body.
    ///   - url: the URL that answered.
    ///   - interim: informational responses that came before.
    ///   - metrics: how the transfer went so far.
    ///   - metricsAtEnd: how it went in all, where the body is streamed: nil before its end. Asked at any time.
    public init(
        head: HTTPResponse,
        body: HTTPBody = HTTPBody(),
        url: String,
        interim: [HTTPResponse] = [],
        metrics: TransferMetrics = TransferMetrics(),
        metricsAtEnd: (@Sendable () -> TransferMetrics?)? = nil
    ) {
        self.init(
            RawHead(head),
            body: body,
            url: url,
            interim: interim,
            metrics: metrics,
            metricsAtEnd: metricsAtEnd
        )
    }

    /// Describes a response whose head may stay unread.
    package init(
        _ head: RawHead,
        body: HTTPBody,
        url: String,
        interim: [HTTPResponse],
        metrics: TransferMetrics,
        metricsAtEnd: (@Sendable () -> TransferMetrics?)?
    ) {
        rawHead = head
        self.body = body
        self.url = url
        self.interim = interim
        metricsAtHandover = metrics
        self.metricsAtEnd = metricsAtEnd
    }
}
