/// A response from a transport: head, body, and metrics of the transfer.
public struct TransferResponse: Sendable {
    /// The status and header fields, in the order and spelling received.
    ///
    /// They are created on first access. If the body was decoded, `Content-Encoding` and `Content-Length` still
    /// describe the encoded body.
    public var head: HTTPResponse {
        get { rawHead.head }
        set { rawHead = RawHead(newValue) }
    }
    /// The status, which is available without creating header fields.
    public var status: HTTPResponse.Status { rawHead.status }
    /// The head, whose header fields are created on first access.
    package var rawHead: RawHead
    /// The decoded body: complete with `Delivery.collect`, a stream with `Delivery.stream`, empty with `Delivery.file`.
    public var body: HTTPBody
    /// The URL that responded, after redirects.
    public var url: String
    /// The informational (1xx) responses received before this one.
    public var interim: [HTTPResponse]
    private let initialMetrics: CopyOnWrite<TransferMetrics>
    private let initialTrailers: HTTPFields
    private let end: (@Sendable () -> End?)?

    /// The timings, sizes and connection of the last hop.
    ///
    /// With `Delivery.stream`, they cover only the head until the body has ended.
    public var metrics: TransferMetrics { end?()?.metrics ?? initialMetrics.value }
    /// The metrics as a shared value that is cheap to pass on.
    package var sharedMetrics: CopyOnWrite<TransferMetrics> {
        if let end = end?() { CopyOnWrite(end.metrics) } else { initialMetrics }
    }
    /// The trailer fields that follow the body (RFC 9110, 6.5).
    ///
    /// They aren't merged into `head`.
    ///
    /// With `Delivery.stream`, they are empty until the body has ended.
    public var trailers: HTTPFields { end?()?.trailers ?? initialTrailers }

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - head: The status and header fields.
    ///   - body: The decoded body.
    ///   - url: The URL that responded.
    ///   - interim: The informational responses received before this one.
    ///   - trailers: The trailer fields of a complete body.
    ///   - metrics: The metrics of the transfer so far.
    ///   - end: Returns the final metrics and trailers of a streamed body, or `nil` before its end. May be called at
    ///     any time.
    public init(
        head: HTTPResponse,
        body: HTTPBody = HTTPBody(),
        url: String,
        interim: [HTTPResponse] = [],
        trailers: HTTPFields = [:],
        metrics: TransferMetrics = TransferMetrics(),
        end: (@Sendable () -> End?)? = nil
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

    /// Creates a response without creating the header fields of its head.
    package init(
        _ head: RawHead,
        body: HTTPBody,
        url: String,
        interim: [HTTPResponse],
        trailers: HTTPFields,
        metrics: TransferMetrics,
        end: (@Sendable () -> End?)?
    ) {
        rawHead = head
        self.body = body
        self.url = url
        self.interim = interim
        initialTrailers = trailers
        initialMetrics = CopyOnWrite(metrics)
        self.end = end
    }
}

extension TransferResponse {
    /// The final data of a transfer, available when the response body has ended.
    public struct End: Sendable, Hashable {
        /// The metrics of the whole transfer.
        public var metrics: TransferMetrics
        /// The trailer fields that followed the body.
        public var trailers: HTTPFields

        /// Creates the final data of a transfer.
        public init(metrics: TransferMetrics = TransferMetrics(), trailers: HTTPFields = [:]) {
            self.metrics = metrics
            self.trailers = trailers
        }
    }
}

extension TransferResponse: CustomStringConvertible, CustomReflectable {
    /// The status, URL, header fields and the body if it is in memory, with secrets redacted.
    public var description: String {
        let redactor = Redactor.standard
        let contentType = head.headerFields[single: .contentType]
        return redactor.redactedDescription(
            of: head,
            from: url,
            redactor.redactedDescription(of: body, contentType: contentType)
        )
    }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
