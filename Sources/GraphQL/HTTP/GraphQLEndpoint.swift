public import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The address of a GraphQL server, and the way operations are sent to it.
///
/// ```swift
/// dependencies.graphQLEndpoint = GraphQLEndpoint("https://example.org/graphql")
/// ```
public struct GraphQLEndpoint: Sendable {
    /// The HTTP method of queries.
    ///
    /// Mutations always use POST (GraphQL over HTTP, 6.2).
    public enum QueryMethod: Sendable, Hashable {
        /// Sends the query in the body, the default.
        case post
        /// Sends the query in the URL, so that intermediaries can cache the response.
        ///
        /// Uses POST if the URL would be too long.
        case get
    }

    /// The form in which a document is sent.
    public enum DocumentStyle: Sendable, Hashable {
        /// The text of the document, the default.
        case text
        /// The hash of the document, followed by its text only if the server requests it (automatic persisted queries).
        case automatic
        /// The ID by which the server knows the document: the request's `documentID`, or else `sha256:` and the
        /// document's hash (GraphQL over HTTP, appendix A).
        case documentID
        /// The same ID without `sha256:`, in a parameter of another name, such as `doc_id`.
        case parameter(String)
        /// The same ID without `sha256:`, as the last component of the URL's path.
        case path
    }

    /// The handling of responses that contain errors.
    public enum ErrorPolicy: Sendable, Hashable {
        /// Fails with the errors, even if there is data.
        case strict
        /// Returns both data and errors, and fails only if there is no data; the default.
        case partial
        /// Like `partial`, but drops errors if there is data.
        case ignore
    }

    /// The path or URL of the endpoint.
    public var target: any Request.Target
    /// The header fields of each request.
    public var headers: [String: String]
    /// The HTTP method of queries.
    public var queryMethod = QueryMethod.post
    /// The maximum length of a query's URL, in bytes; greater than 0.
    ///
    /// The default is 2,000, because servers and proxies refuse longer URLs.
    public var maxURLBytes = 2000
    /// The form in which documents are sent.
    public var documentStyle = DocumentStyle.text
    /// Whether `__typename` is added to every selection set of typed operations, so that a `DocumentCache` knows the
    /// types in a response.
    ///
    /// The default is `false`, which sends documents unchanged.
    public var addsTypenames = false
    /// The handling of responses that contain errors.
    public var errorPolicy = ErrorPolicy.partial
    /// The name of a header field that tells the server that the request is not a cross-site form submission.
    ///
    /// The default is `GraphQL-Require-Preflight`; `nil` sends no such field.
    ///
    /// It is sent with GET requests and uploads, which browsers send to other sites without a preflight.
    public var preflightField: String? = "GraphQL-Require-Preflight"
    /// The limits and policies of requests.
    ///
    /// `nil`, the default, uses the client's.
    public var options: TransferOptions?
    /// The HTTP method of operations that use an event stream of their own, except mutations.
    ///
    /// The default is `.post`.
    ///
    /// `.get` sends the operation in the URL, with `preflightField`, or in the body if the URL would be longer than
    /// `maxURLBytes`. It requires `subscriptions` to be `[.events()]` and is an error with any other transport: the
    /// message is created only once, and the other transports can't take it from a URL. A subscription that a server or
    /// proxy refuses with 414 is not retried with POST; lower `maxURLBytes` instead.
    public var subscriptionMethod = QueryMethod.post
    /// The transports of subscriptions, in order of preference.
    ///
    /// The default is a WebSocket, event streams, multipart bodies, and a WebSocket with the older protocol.
    ///
    /// If a server doesn't support a transport, the client tries the next one, and remembers the refusal for five
    /// minutes for this address.
    public var subscriptions: [SubscriptionTransport] = [
        .webSocket(), .events(), .multipart, .webSocket(GraphQLSocketOptions(subprotocol: .graphQLWS)),
    ]
    /// The maximum size of a message of a subscription over any transport, in bytes; greater than 0.
    ///
    /// The default is 16 MiB, far more than one result should need, and still small enough to hold in memory.
    ///
    /// A larger message ends its connection with an error of kind `.tooLarge`, for all operations that share it. An
    /// incremental result may have four times this size.
    public var maxMessageBytes = 16 << 20
    /// The kinds of operations that use the transports in `subscriptions`.
    ///
    /// The default is subscriptions only.
    ///
    /// Operations with files use POST regardless. A mutation that the server may have executed is not tried over
    /// another transport.
    public var kindsOverSubscriptionTransports: Set<OperationKind> = [.subscription]
    /// The URL whose origin may receive the WebSocket parameters, or `nil` for the target's.
    package var parametersOriginURL: URL?
    /// The state learned about the server.
    let state = EndpointState()

    /// Creates an endpoint.
    ///
    /// - Parameters:
    ///   - target: The path or URL of the endpoint.
    ///   - headers: The header fields of each request.
    public init(_ target: some Request.Target, headers: [String: String] = [:]) {
        self.target = target
        self.headers = headers
    }

    /// Retires the open WebSockets and shared event streams, which close when their current operations end and accept
    /// no new ones.
    ///
    /// Call it when a user signs in or out, because a connection keeps the credentials it was opened with. A WebSocket
    /// that is only held open (`NetworkClient.holdWebSocket`) closes immediately, and is reopened as if it were lost.
    ///
    /// Operations with other header fields or another `partition` never share a connection. But the transport's cookies
    /// and `GraphQLSocketOptions.parameters` are only read when a connection opens. The call affects the connections of
    /// all copies of this endpoint.
    public func retireConnections() {
        state.forgetRefusals()
        state.sockets.retireAll()
        state.eventStreams.retireAll()
    }

    /// Drops the WebSockets that are open or opening, without a closing handshake.
    ///
    /// Use it if the app knows that they are dead, for example after the device slept. Their operations treat it as a
    /// lost connection: subscriptions and `NetworkClient.holdWebSocket` reconnect as
    /// `RetryInterceptor.subscriptionBackoff` specifies, queries are retried as its `backoff` specifies, and mutations
    /// that were sent are not retried. The call affects the WebSockets of all copies of this endpoint, except retired
    /// ones.
    public func terminateWebSockets() {
        state.sockets.terminateAll()
    }
}

extension GraphQLEndpoint: CustomStringConvertible, CustomReflectable {
    /// The target and headers, with secrets redacted.
    public var description: String {
        let redactor = Redactor.standard
        return redactor.messageDescription(
            redactor.redact(url: "\(target)"),
            redactor.redactedDescription(of: headers),
            nil
        )
    }
    /// A mirror without children, because `dump` would show their secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
