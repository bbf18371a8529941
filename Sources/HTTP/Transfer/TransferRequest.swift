/// A request to a transport: the HTTP request, its options, and how to deliver the response.
public struct TransferRequest: Sendable {
    /// The destination of the response body.
    public enum Delivery: Sendable, Equatable {
        /// Collects the body in memory, and calls the completion when the body is complete.
        case collect
        /// Streams the body to its reader, with back-pressure, and calls the completion when the head is complete.
        case stream
        /// Writes the body to a file at this path.
        ///
        /// It is written to a `.part` file next to it, which replaces the file when the body is complete. If the status
        /// is outside 200...299, the body is collected in memory instead. The path must not be a pipe, which could
        /// block the transport.
        case file(path: String)
    }

    /// The properties of a request, stored behind one reference to avoid copying and reference counting when a request
    /// is passed on.
    @usableFromInline
    struct Fields: Sendable {
        @usableFromInline var head: HTTPRequest
        @usableFromInline var body: HTTPBody?
        @usableFromInline var options: TransferOptions
        @usableFromInline var delivery: Delivery
        @usableFromInline var originScopedFields: Set<HTTPField.Name>
        @usableFromInline var allowedHosts: Set<String>?
        @usableFromInline var observers: Observers?
        @usableFromInline var resendPolicy = ResendPolicy.ifIdempotent
    }

    @usableFromInline var fields: CopyOnWrite<Fields>

    /// Whether both are unchanged copies of one request, apart from `priorityControl`.
    package func isSame(as other: TransferRequest) -> Bool { fields.isSame(as: other.fields) }

    /// The method, scheme, authority, path and header fields, sent in this order and spelling.
    @inlinable public var head: HTTPRequest {
        _read { yield fields.value.head }
        _modify { yield &fields.value.head }
    }

    /// The body, or `nil` for a request without a body.
    @inlinable public var body: HTTPBody? {
        _read { yield fields.value.body }
        _modify { yield &fields.value.body }
    }

    /// The timeouts, limits and policies of this transfer.
    @inlinable public var options: TransferOptions {
        _read { yield fields.value.options }
        _modify { yield &fields.value.options }
    }

    /// Whether the options are the documented defaults. Compares them without copying.
    package var hasStandardOptions: Bool { fields.value.options == .standard }

    /// The destination of the response body.
    @inlinable public var delivery: Delivery {
        _read { yield fields.value.delivery }
        _modify { yield &fields.value.delivery }
    }

    /// The header fields that belong to the origin of `head`.
    ///
    /// A redirect to another origin drops them, along with all fields that `Redactor` considers to be credentials.
    @inlinable public var originScopedFields: Set<HTTPField.Name> {
        _read { yield fields.value.originScopedFields }
        _modify { yield &fields.value.originScopedFields }
    }

    /// The only hosts, in lower case, to which a redirect may lead, or `nil` to allow any.
    @inlinable public var allowedHosts: Set<String>? {
        _read { yield fields.value.allowedHosts }
        _modify { yield &fields.value.allowedHosts }
    }

    /// The observers of the transfer, if there are any.
    @inlinable package var observers: Observers? {
        _read { yield fields.value.observers }
        _modify { yield &fields.value.observers }
    }

    /// Raises the priority of the transfer after it was started; `nil`, the default, if it stays.
    ///
    /// It isn't one of the fields, so that setting it doesn't copy those of a message that is made once and sent often.
    public var priorityControl: Priority.Control?

    /// The condition under which the request may be resent even if the server may have acted on it.
    @inlinable package var resendPolicy: ResendPolicy {
        _read { yield fields.value.resendPolicy }
        _modify { yield &fields.value.resendPolicy }
    }

    /// Creates a transfer request.
    public init(
        _ head: HTTPRequest,
        body: HTTPBody? = nil,
        options: TransferOptions = TransferOptions(),
        delivery: Delivery = .collect,
        originScopedFields: Set<HTTPField.Name> = [],
        onProgress: (@Sendable (Progress) -> Void)? = nil
    ) {
        self.init(
            head,
            body: body,
            options: options,
            delivery: delivery,
            originScopedFields: originScopedFields,
            allowedHosts: nil
        )
        if onProgress != nil { self.onProgress = onProgress }
    }
}

extension TransferRequest {
    /// A condition under which a request may be resent even if the server may have acted on it.
    ///
    /// An `Idempotency-Key` always allows it
    /// (https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/).
    @usableFromInline
    package enum ResendPolicy: Sendable {
        /// Always, because the request has the same effect each time.
        case always
        /// Only if the method is idempotent (RFC 9110, 9.2.2).
        case ifIdempotent
        /// Only if the method is safe (RFC 9110, 9.2.1).
        case ifSafe
        case never

        /// Returns whether a request with this method, without an `Idempotency-Key`, may be resent.
        package func allows(_ method: HTTPRequest.Method) -> Bool {
            switch self {
            case .always: true
            case .ifIdempotent: method.isIdempotent
            case .ifSafe: method.isSafe
            case .never: false
            }
        }

        /// Returns whether this request may be resent.
        package func allows(_ head: HTTPRequest) -> Bool {
            allows(head.method) || head.headerFields.contains(.idempotencyKey)
        }
    }

    /// Whether the response is expected to be a stream of server-sent events, which has no end of its own.
    package var expectsEventStream: Bool {
        delivery == .stream && head.headerFields[.accept]?.hasPrefix(MediaType.eventStream) == true
    }

    /// Whether the request may be resent even if the server may have acted on it, and its body can be replayed.
    package var canBeResent: Bool {
        resendPolicy.allows(head) && body?.isReplayable != false
    }
}

extension TransferRequest {
    /// The observers of a transfer, which never change.
    @usableFromInline
    package final class Observers: Sendable {
        @usableFromInline package let onProgress: (@Sendable (Progress) -> Void)?
        package let onRedirect: RedirectObserver?
        package let onHop: HopObserver?
        package let onHead: HeadObserver?

        fileprivate init?(
            _ onProgress: (@Sendable (Progress) -> Void)?,
            _ onRedirect: RedirectObserver?,
            _ onHop: HopObserver?,
            _ onHead: HeadObserver?
        ) {
            if onProgress == nil, onRedirect == nil, onHop == nil, onHead == nil { return nil }
            self.onProgress = onProgress
            self.onRedirect = onRedirect
            self.onHop = onHop
            self.onHead = onHead
        }
    }

    /// A closure that observes a redirect and may change the header fields of the next request.
    ///
    /// It is called with the redirect response, the number of redirects followed before, and the next request.
    package typealias RedirectObserver =
        @Sendable (_ response: HTTPResponse, _ followed: Int, _ next: inout TransferRequest) -> Void

    /// A closure that is called as bytes are transferred, on a thread of the transport.
    ///
    /// It is called at most every 50 ms, and once more at the end.
    public var onProgress: (@Sendable (Progress) -> Void)? {
        @inlinable get { observers?.onProgress }
        set { observers = Observers(newValue, onRedirect, onHop, onHead) }
    }

    /// A closure that is called on the transport's thread with each redirect that is followed.
    ///
    /// It is called when the redirect response has ended, just before the next request is sent. Anything that must not
    /// be sent to the new destination has already been removed.
    package var onRedirect: RedirectObserver? {
        get { observers?.onRedirect }
        set { observers = Observers(onProgress, newValue, onHop, onHead) }
    }

    /// A closure that observes a response that isn't the last.
    ///
    /// It is called with the response, its metrics and the next request.
    package typealias HopObserver =
        @Sendable (_ response: HTTPResponse, _ metrics: TransferMetrics, _ next: TransferRequest) -> Void

    /// A closure that is called on the transport's thread with each redirect that is followed and each challenge that
    /// is answered, just before the next request is sent.
    ///
    /// If it is set, `TransferMetrics.requestHead` has the head of each request, if the transport supports it.
    package var onHop: HopObserver? {
        get { observers?.onHop }
        set { observers = Observers(onProgress, onRedirect, newValue, onHead) }
    }

    /// A closure that observes the head of a response.
    ///
    /// It is called with the head and the head of the request that it belongs to.
    package typealias HeadObserver = @Sendable (_ response: HTTPResponse, _ request: HTTPRequest) -> Void

    /// A closure that is called on the transport's thread with each informational (1xx) head, and with the final head
    /// before its body.
    ///
    /// It must not block. Only `CurlTransport` calls it.
    package var onHead: HeadObserver? {
        get { observers?.onHead }
        set { observers = Observers(onProgress, onRedirect, onHop, newValue) }
    }

    /// Notifies the redirect observer that this request follows a redirect.
    ///
    /// - Parameters:
    ///   - response: The redirect response.
    ///   - count: The number of redirects followed before.
    package mutating func notifyRedirect(_ response: HTTPResponse, after count: Int) {
        if let notify = onRedirect { notify(response, count, &self) }
    }

    /// Creates a transfer request whose redirects may lead only to certain hosts.
    package init(
        _ head: HTTPRequest,
        body: HTTPBody?,
        options: TransferOptions,
        delivery: Delivery,
        originScopedFields: Set<HTTPField.Name>,
        allowedHosts: Set<String>?
    ) {
        fields = CopyOnWrite(
            Fields(
                head: head,
                body: body,
                options: options,
                delivery: delivery,
                originScopedFields: originScopedFields,
                allowedHosts: allowedHosts
            )
        )
    }
}

extension TransferRequest {
    /// The progress of a transfer.
    public struct Progress: Sendable, Hashable {
        /// The number of body bytes sent so far.
        public var bytesSent: Int64
        /// The total number of body bytes to send, if known.
        public var bytesToSend: Int64?
        /// The number of body bytes received so far, before decoding.
        public var bytesReceived: Int64
        /// The total number of body bytes to receive, if the server declared it.
        public var bytesToReceive: Int64?

        /// Creates the progress of a transfer.
        public init(bytesSent: Int64, bytesToSend: Int64?, bytesReceived: Int64, bytesToReceive: Int64?) {
            self.bytesSent = bytesSent
            self.bytesToSend = bytesToSend
            self.bytesReceived = bytesReceived
            self.bytesToReceive = bytesToReceive
        }
    }
}

extension TransferRequest: CustomStringConvertible, CustomReflectable {
    /// The request with secrets redacted.
    public var description: String { Redactor.standard.redactedDescription(of: self) }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
