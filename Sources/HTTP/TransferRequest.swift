/// What a transport is asked to do: one message, its limits, and the form in which the answer is wanted.
public struct TransferRequest: Sendable {
    /// Where the body of the answer goes.
    public enum Delivery: Sendable, Equatable {
        /// Into memory; the completion is called when the body is whole.
        case collect
        /// To the reader, with back-pressure; the completion is called when the head is complete.
        case stream
        /// Into a file at this path, written to a `.part` file beside it that takes its place when the body is whole.
        /// A body whose status is outside 200...299 is collected instead. No pipe: it could hold up the transport.
        case file(path: String)
    }

    /// What there is to say: too much to be copied, and counted, by each who hands a request on.
    @usableFromInline
    struct Fields: Sendable {
        @usableFromInline var head: HTTPRequest
        @usableFromInline var body: HTTPBody?
        @usableFromInline var options: TransferOptions
        @usableFromInline var delivery: Delivery
        @usableFromInline var originScopedFields: Set<HTTPField.Name>
        @usableFromInline var allowedHosts: Set<String>?
        @usableFromInline var observers: Observers?
        @usableFromInline var repetition = Repetition.ifIdempotent
    }

    @usableFromInline var fields: CopyOnWrite<Fields>

    /// Method, scheme, authority, path and header fields, sent in this order and spelling.
    @inlinable public var head: HTTPRequest {
        _read { yield fields.value.head }
        _modify { yield &fields.value.head }
    }

    /// The body, or nil for none.
    @inlinable public var body: HTTPBody? {
        _read { yield fields.value.body }
        _modify { yield &fields.value.body }
    }

    /// Timeouts, limits and policies of this transfer.
    @inlinable public var options: TransferOptions {
        _read { yield fields.value.options }
        _modify { yield &fields.value.options }
    }

    /// Whether the options are the documented defaults, which is told without a copy of them.
    package var hasStandardOptions: Bool { fields.value.options == .standard }

    /// Where the body of the answer goes.
    @inlinable public var delivery: Delivery {
        _read { yield fields.value.delivery }
        _modify { yield &fields.value.delivery }
    }

    /// Fields that belong to the origin of `head`: a redirect to another origin drops them, along with everything
    /// that `Redactor` takes for a credential.
    @inlinable public var originScopedFields: Set<HTTPField.Name> {
        _read { yield fields.value.originScopedFields }
        _modify { yield &fields.value.originScopedFields }
    }

    /// The only hosts, in lower case, that a redirect may lead to; nil lets it lead to any.
    @inlinable public var allowedHosts: Set<String>? {
        _read { yield fields.value.allowedHosts }
        _modify { yield &fields.value.allowedHosts }
    }

    /// Who hears of the transfer while it is under way; nil where nobody does.
    @inlinable package var observers: Observers? {
        _read { yield fields.value.observers }
        _modify { yield &fields.value.observers }
    }

    /// Whether the message may be sent again after the server may have acted on it.
    @inlinable package var repetition: Repetition {
        _read { yield fields.value.repetition }
        _modify { yield &fields.value.repetition }
    }

    /// Describes a transfer.
    public init(
        _ head: HTTPRequest,
        body: HTTPBody? = nil,
        options: TransferOptions = TransferOptions(),
        delivery: Delivery = .collect,
        originScopedFields: Set<HTTPField.Name> = [],
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
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
    /// When a message may be sent again although the server may have acted on it. An `Idempotency-Key` allows it always
    /// (https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/).
    @usableFromInline
    package enum Repetition: Sendable {
        /// The message asks for the same each time.
        case always
        /// The method is idempotent (RFC 9110, 9.2.2).
        case ifIdempotent
        /// The method is safe (RFC 9110, 9.2.1).
        case ifSafe
        case never

        /// Whether a message of this method, without an `Idempotency-Key`, may be sent again.
        package func allows(_ method: HTTPRequest.Method) -> Bool {
            switch self {
            case .always: true
            case .ifIdempotent: method.isIdempotent
            case .ifSafe: method.isSafe
            case .never: false
            }
        }

        /// Whether this message may be sent again.
        package func allows(_ head: HTTPRequest) -> Bool {
            allows(head.method) || head.headerFields.contains(.idempotencyKey)
        }
    }

    /// Whether the answer is to be a stream of server-sent events, which has no end of its own.
    package var wantsEvents: Bool {
        delivery == .stream && head.headerFields[.accept]?.hasPrefix(MediaType.eventStream) == true
    }

    /// Whether the message may be sent again although the server may have acted on it, and its body is still there.
    package var mayBeSentTwice: Bool {
        repetition.allows(head) && body?.isReplayable != false
    }
}

extension TransferRequest {
    /// Who hears of a transfer; never changes.
    @usableFromInline
    package final class Observers: Sendable {
        @usableFromInline package let onProgress: (@Sendable (TransferProgress) -> Void)?
        package let onRedirect: RedirectObserver?
        package let onHop: HopObserver?

        fileprivate init?(
            _ onProgress: (@Sendable (TransferProgress) -> Void)?,
            _ onRedirect: RedirectObserver?,
            _ onHop: HopObserver?
        ) {
            if onProgress == nil, onRedirect == nil, onHop == nil { return nil }
            self.onProgress = onProgress
            self.onRedirect = onRedirect
            self.onHop = onHop
        }
    }

    /// Hears of a redirect that is followed: the answer that redirects, how many were followed before, and the message
    /// that goes out next, whose fields it may change.
    package typealias RedirectObserver =
        @Sendable (_ answer: HTTPResponse, _ followed: Int, _ next: inout TransferRequest) -> Void

    /// Called as bytes move, on a thread of the transport's: at most every 50 ms, and once more when they all have.
    public var onProgress: (@Sendable (TransferProgress) -> Void)? {
        @inlinable get { observers?.onProgress }
        set { observers = Observers(newValue, onRedirect, onHop) }
    }

    /// Called on the transport's thread with each redirect that is followed, when its answer has come to its end and
    /// just before the next message goes out. That one has left behind what must not go with it.
    package var onRedirect: RedirectObserver? {
        get { observers?.onRedirect }
        set { observers = Observers(onProgress, newValue, onHop) }
    }

    /// Hears of a message whose answer is not the last: the answer, how the message went, and the one that goes out next.
    package typealias HopObserver =
        @Sendable (_ answer: HTTPResponse, _ metrics: TransferMetrics, _ next: TransferRequest) -> Void

    /// Called on the transport's thread with each redirect that is followed and each challenge that is met, just before
    /// the next message goes out. Where somebody hears of hops, `TransferMetrics.requestHead` has the head of each, where
    /// the engine can tell.
    package var onHop: HopObserver? {
        get { observers?.onHop }
        set { observers = Observers(onProgress, onRedirect, newValue) }
    }

    /// Tells whoever hears of redirects that this message follows one.
    ///
    /// - Parameters:
    ///   - answer: what redirects.
    ///   - count: redirects followed before.
    package mutating func tellRedirect(_ answer: HTTPResponse, after count: Int) {
        if let tell = onRedirect { tell(answer, count, &self) }
    }

    /// Describes a transfer whose redirects lead to these hosts only.
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

/// How far a transfer is.
public struct TransferProgress: Sendable, Hashable {
    /// Body bytes sent so far.
    public var bytesSent: Int64
    /// Body bytes to send in all, where known.
    public var bytesToSend: Int64?
    /// Body bytes received so far, as they came over the wire.
    public var bytesReceived: Int64
    /// Body bytes to receive in all, where the server said.
    public var bytesToReceive: Int64?

    /// Describes how far a transfer is.
    public init(bytesSent: Int64, bytesToSend: Int64?, bytesReceived: Int64, bytesToReceive: Int64?) {
        self.bytesSent = bytesSent
        self.bytesToSend = bytesToSend
        self.bytesReceived = bytesReceived
        self.bytesToReceive = bytesToReceive
    }
}

extension TransferRequest: CustomStringConvertible, CustomReflectable {
    /// The message, with its secrets replaced.
    public var description: String { Redactor.standard.shown(self) }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
