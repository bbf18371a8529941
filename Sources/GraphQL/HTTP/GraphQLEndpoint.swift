public import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Where GraphQL operations go, and how.
///
/// ```swift
/// dependencies.graphQLEndpoint = GraphQLEndpoint("https://example.org/graphql")
/// ```
public struct GraphQLEndpoint: Sendable {
    /// How queries are sent. Mutations are posted always (GraphQL over HTTP, 6.2).
    public enum QueryMethod: Sendable, Hashable {
        /// In the body. The default.
        case post
        /// In the URL, so that what lies between may store answers; in the body where the URL would be too long.
        case get
    }

    /// What is sent of a document.
    public enum DocumentStyle: Sendable, Hashable {
        /// Its text. The default.
        case text
        /// Its hash; its text beside it only where the server asks for that (automatic persisted queries).
        case automatic
        /// What the server knows it by: the request's `documentID`, else `sha256:` and its hash (GraphQL over HTTP,
        /// appendix A).
        case documentID
        /// The same, without `sha256:`, under another name, as `doc_id`.
        case parameter(String)
        /// The same, without `sha256:`, as the last part of the URL's path.
        case path
    }

    /// What becomes of an answer that has errors.
    public enum ErrorPolicy: Sendable, Hashable {
        /// It is a failure that holds them, whatever data there is.
        case strict
        /// What is there counts: data and errors are both given, and it is a failure only without data. The default.
        case partial
        /// As `partial`, and errors beside data are left out.
        case ignore
    }

    /// The path or URL.
    public var target: any RequestTarget
    /// Header fields of each request.
    public var headers: [String: String]
    /// How queries are sent.
    public var queryMethod = QueryMethod.post
    /// The longest URL of a query, in bytes; above 0. 2,000 by default, as servers and proxies refuse longer ones.
    public var maxURLBytes = 2000
    /// What is sent of documents.
    public var documents = DocumentStyle.text
    /// Whether `__typename` is asked for in every selection of typed operations, so that a `DocumentCache` knows what answers
    /// are made of. No by default: documents are sent as they are.
    public var addsTypenames = false
    /// What becomes of answers with errors.
    public var errorPolicy = ErrorPolicy.partial
    /// The name of a field that tells servers that no form of another site sent this; nil sends none. Of GETs and uploads,
    /// which a browser would send without asking; `GraphQL-Require-Preflight` by default.
    public var preflightField: String? = "GraphQL-Require-Preflight"
    /// Limits and policies of requests; nil, the default, takes the client's.
    public var options: TransferOptions?
    /// How what goes by `subscriptions` is asked for over event streams of its own, mutations apart; `.post` by default. `.get`
    /// puts it into the URL, with `preflightField`, and into the body where that would be longer than `maxURLBytes`. It is for
    /// `[.events()]` alone, and an error beside any other way: the message is made once, and no other way can take it from a
    /// URL. A subscription that a server or proxy refuses with 414 is not posted: lower `maxURLBytes`.
    public var subscriptionMethod = QueryMethod.post
    /// The ways in which subscriptions go, the best first. If a server does not know one, the next is tried, and the refusal
    /// is remembered for five minutes, for each address. By default a WebSocket, event streams, bodies of parts, and a
    /// WebSocket of the older protocol.
    public var subscriptions: [GraphQLSubscriptionTransport] = [
        .webSocket(), .events(), .multipart, .webSocket(GraphQLSocketOptions(subprotocol: .graphQLWS)),
    ]
    /// The most bytes that one message of a subscription may have, whichever way it comes; above 0. A larger one ends its
    /// connection with an error of kind `.tooLarge`, for all operations that share it. 16 MiB by default, far above what
    /// one result should be, and little enough to be kept in memory. A result that comes in pieces may have four times as many.
    public var maxMessageBytes = 16 << 20
    /// Which operations go that way; subscriptions alone by default. Those with files are posted all the same. A mutation that
    /// the server may have executed is tried in no other way.
    public var kindsOverSubscriptions: Set<OperationKind> = [.subscription]
    /// For whose origin the parameters of WebSockets are; nil where it is the target's.
    package var home: URL?
    /// What was learned of the server.
    let memory = EndpointMemory()

    /// An endpoint.
    ///
    /// - Parameters:
    ///   - target: path or URL.
    ///   - headers: header fields of each request.
    public init(_ target: some RequestTarget, headers: [String: String] = [:]) {
        self.target = target
        self.headers = headers
    }

    /// Lets no operation go over a WebSocket or a shared event stream that is open now: each ends with the operations that it has. For when somebody
    /// signs in or out, as connections speak for whom they were opened.
    ///
    /// A WebSocket that is only held open (`NetworkClient.holdWebSocket`) ends at once, and is followed as one that was lost.
    ///
    /// Operations of other header fields or of another `partition` never share one; but cookies of the transport's, and what
    /// `GraphQLSocketOptions.parameters` says, are asked for only where a connection is made. Connections of all copies of
    /// this endpoint are meant.
    public func retireConnections() {
        memory.forgetRefusals()
        memory.sockets.retireAll()
        memory.eventStreams.retireAll()
    }

    /// Drops the WebSockets that are open now or being opened, without a word to their servers: for an app that knows that
    /// they are dead before anybody else does, as after the device slept.
    ///
    /// For their operations that is a lost connection: subscriptions, and what `NetworkClient.holdWebSocket` holds, are asked for
    /// again as `RetryInterceptor.subscriptionBackoff` says, queries as its `backoff` does, and a mutation that was sent is not.
    /// WebSockets of all copies of this endpoint are meant, but for those that were retired.
    public func terminateWebSockets() {
        memory.sockets.terminateAll()
    }
}

/// What was learned of a server, shared by the copies of its endpoint.
final class EndpointMemory: Sendable {
    /// A way that is not known at an address, which is without its query.
    private struct Refusal: Hashable, Sendable {
        let way: String
        let address: String

        init(_ way: String, _ head: HTTPRequest) {
            self.way = way
            address = String(head.urlText.prefix { $0 != "?" })
        }
    }

    private let refusesHashes = Lock(false)
    /// How long ago each was.
    private let refused = Lock<[Refusal: @Sendable () -> Duration]>([:])
    /// How long a refusal counts: a proxy or a server that was being started may have spoken.
    private static let refusalLife = Duration.seconds(300)
    /// The event streams that operations share.
    let eventStreams = SharedEventStreams()
    /// The WebSockets that operations share.
    let sockets = SocketPool()

    /// Whether it said that it knows no persisted queries.
    var knowsNoPersistedQueries: Bool {
        get { refusesHashes.withLock { $0 } }
        set { refusesHashes.withLock { $0 = newValue } }
    }

    /// Whether this way is not known where a message goes.
    func refuses(_ way: String, at head: HTTPRequest) -> Bool {
        let refused = refused.withLock { $0 }
        return !refused.isEmpty && refused[Refusal(way, head)].map { $0() < Self.refusalLife } == true
    }

    /// This way is not known where a message went.
    ///
    /// - Parameter age: tells how long ago that was.
    func note(refusalOf way: String, at head: HTTPRequest, _ age: @escaping @Sendable () -> Duration) {
        let old = refused.withLock { $0 }.filter { $0.value() >= Self.refusalLife }.keys
        refused.withLock { refused in
            for refusal in old { refused[refusal] = nil }
            refused[Refusal(way, head)] = age
        }
    }

    /// All ways are to be tried again.
    func forgetRefusals() {
        refused.withLock { $0 = [:] }
    }
}

extension BeagleDependencies {
    /// Where GraphQL operations go that name no endpoint; nil, the default, where none is set.
    public var graphQLEndpoint: GraphQLEndpoint? {
        get { self[GraphQLEndpointKey.self] }
        set { self[GraphQLEndpointKey.self] = newValue }
    }

    /// How variables are written, where the app has scalars of its own; nil, the default, writes JSON with sorted keys. One
    /// that does not sort them makes equal operations different ones: they share no run and no stored answer.
    public var graphQLEncoder: (any BodyEncoder)? {
        get { self[GraphQLEncoderKey.self] }
        set { self[GraphQLEncoderKey.self] = newValue }
    }

    /// This endpoint, else the one that is set.
    ///
    /// - Throws: `NetworkError` of kind `.notConfigured` where there is none.
    package func endpoint(_ endpoint: GraphQLEndpoint?) throws(NetworkError) -> GraphQLEndpoint {
        if let endpoint = endpoint ?? graphQLEndpoint { return endpoint }
        throw NetworkError(
            .notConfigured,
            during: .build,
            "no GraphQL endpoint is set",
            advice: "set dependencies.graphQLEndpoint, or pass an endpoint to the call"
        )
    }
}

enum GraphQLEndpointKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> GraphQLEndpoint? { nil }
}

enum GraphQLEncoderKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> (any BodyEncoder)? { nil }
}

extension GraphQLEndpoint: CustomStringConvertible, CustomReflectable {
    /// Target and headers, with their secrets replaced.
    public var description: String {
        let redactor = Redactor.standard
        return redactor.shownMessage(redactor.redact(url: "\(target)"), redactor.shown(headers), nil)
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
