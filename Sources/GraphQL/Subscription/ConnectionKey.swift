import BeagleNet
import BeagleNetHTTP

/// The properties that operations on a shared connection have in common: the URL, the header fields and options that
/// identify the user and the connection, the partition, the maximum message size, and the transport, if it can be
/// identified.
struct ConnectionKey: Hashable, Sendable {
    private let url: String
    private let fields: [HTTPField]
    private let options: TransferOptions
    private let partition: String
    private let transport: TransportIdentity
    private let maxMessageBytes: Int

    init(_ attempt: SubscriptionAttempt) {
        let operation = attempt.operation
        let head = operation.transfer.head
        url = head.urlText
        fields = Array(head.connectionFields)
        options = operation.transfer.options.forConnection
        partition = operation.partition
        transport = TransportIdentity(attempt.transport)
        maxMessageBytes = attempt.endpoint.maxMessageBytes
    }
}

extension TransferOptions {
    /// The options that concern the connection. Limits and similar options are specific to each operation.
    fileprivate var forConnection: TransferOptions {
        var options = self
        options.timeouts = Timeouts()
        options.maxBodyBytes = nil
        options.priority = .normal
        options.onInterim = nil
        options.keepsRequestHead = false
        options.isLongLived = false
        return options
    }
}

extension HTTPRequest {
    /// The header fields that identify the user. Fields that concern a single operation are excluded, because they
    /// would give each operation a connection of its own.
    var connectionFields: HTTPFields {
        headerFields.filter { !Self.operationFields.contains($0.name.canonicalName) }
    }

    private static let operationFields: Set<String> = [
        "accept", "accept-encoding", "baggage", "cache-control", "content-digest",
        "content-encoding", "content-language", "content-length", "content-type", "date", "digest", "expect",
        "graphql-require-preflight", "host", "idempotency-key", "if-match", "if-modified-since", "if-none-match",
        "if-range", "if-unmodified-since", "pragma", "priority", "range", "te", "trailer", "transfer-encoding",
        "traceparent", "tracestate", "sentry-trace", "uber-trace-id", "x-amzn-trace-id", "x-cloud-trace-context",
        "x-datadog-parent-id", "x-datadog-sampling-priority", "x-datadog-tags", "x-datadog-trace-id", "b3",
        "x-b3-flags", "x-b3-parentspanid", "x-b3-sampled", "x-b3-spanid", "x-b3-traceid",
        "x-apollo-operation-id", "x-apollo-operation-name", "x-correlation-id", "x-request-id",
    ]
}
