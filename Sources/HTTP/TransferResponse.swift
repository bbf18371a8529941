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
    private let metricsAtHandover: CopyOnWrite<TransferMetrics>
    private let trailersAtHandover: HTTPFields
    private let end: (@Sendable () -> TransferEnd?)?

    /// Phases, sizes and connection of the last hop; with `Delivery.stream` up to the head, until the body has ended.
    public var metrics: TransferMetrics { end?()?.metrics ?? metricsAtHandover.value }
    /// The same, to be handed on.
    package var sharedMetrics: CopyOnWrite<TransferMetrics> {
        if let end = end?() { CopyOnWrite(end.metrics) } else { metricsAtHandover }
    }
    /// The fields behind the body (RFC 9110, 6.5), none of which counts as one of `head`; with `Delivery.stream` empty
    /// until the body has ended.
    public var trailers: HTTPFields { end?()?.trailers ?? trailersAtHandover }

    /// Describes a response.
    ///
    /// - Parameters:
    ///   - head: status and header fields.
    ///   - body: the decoded body.
    ///   - url: the URL that answered.
    ///   - interim: informational responses that came before.
    ///   - trailers: the fields behind a whole body.
    ///   - metrics: how the transfer went so far.
    ///   - end: what takes the place of both where the body is streamed: nil before its end. Asked at any time.
    public init(
        head: HTTPResponse,
        body: HTTPBody = HTTPBody(),
        url: String,
        interim: [HTTPResponse] = [],
        trailers: HTTPFields = [:],
        metrics: TransferMetrics = TransferMetrics(),
        end: (@Sendable () -> TransferEnd?)? = nil
    ) {
        self.init(
            RawHead(head),
            body: body,
            url: url,
            interim: interim,
            trailers: trailers,
            metrics: metrics,
            end: end
        )
    }

    /// Describes a response whose head may stay unread.
    package init(
        _ head: RawHead,
        body: HTTPBody,
        url: String,
        interim: [HTTPResponse],
        trailers: HTTPFields,
        metrics: TransferMetrics,
        end: (@Sendable () -> TransferEnd?)?
    ) {
        rawHead = head
        self.body = body
        self.url = url
        self.interim = interim
        trailersAtHandover = trailers
        metricsAtHandover = CopyOnWrite(metrics)
        self.end = end
    }
}

extension TransferResponse: CustomStringConvertible, CustomReflectable {
    /// Status, URL, fields and the body if it is in memory, with their secrets replaced.
    public var description: String {
        let redactor = Redactor.standard
        let contentType = head.headerFields[single: .contentType]
        return redactor.shown(head, from: url, redactor.shown(body, contentType: contentType))
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
