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

    /// Method, scheme, authority, path and header fields, sent in this order and spelling.
    public var head: HTTPRequest
    /// The body, or nil for none.
    public var body: HTTPBody?
    /// Timeouts, limits and policies of this transfer.
    public var options: TransferOptions
    /// Where the body of the answer goes.
    public var delivery: Delivery
    /// Fields that belong to the origin of `head`: a redirect to another origin drops them, along with everything
    /// that `Redactor` takes for a credential.
    public var originScopedFields: Set<HTTPField.Name>
    /// The only hosts, in lower case, that a redirect may lead to; nil lets it lead to any.
    public var allowedHosts: Set<String>?
    /// Called as bytes move, on a thread of the transport's: at most every 50 ms, and once more when they all have.
    public var onProgress: (@Sendable (TransferProgress) -> Void)?

    /// Describes a transfer.
    public init(
        _ head: HTTPRequest,
        body: HTTPBody? = nil,
        options: TransferOptions = TransferOptions(),
        delivery: Delivery = .collect,
        originScopedFields: Set<HTTPField.Name> = [],
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.head = head
        self.body = body
        self.options = options
        self.delivery = delivery
        self.originScopedFields = originScopedFields
        self.onProgress = onProgress
    }

    /// Describes a transfer whose redirects lead to these hosts only. Inlinable, or it would be made twice.
    @inlinable
    package init(
        _ head: HTTPRequest,
        body: HTTPBody?,
        options: TransferOptions,
        delivery: Delivery,
        originScopedFields: Set<HTTPField.Name>,
        allowedHosts: Set<String>?
    ) {
        self.head = head
        self.body = body
        self.options = options
        self.delivery = delivery
        self.originScopedFields = originScopedFields
        self.allowedHosts = allowedHosts
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
