public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How operations go over a WebSocket.
public struct GraphQLSocketOptions: Sendable {
    /// What is spoken over it.
    public struct Subprotocol: RawRepresentable, Sendable, Hashable {
        /// The name on the wire (`Sec-WebSocket-Protocol`).
        public let rawValue: String

        /// The protocol of this name; one that is neither of the two below is refused.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
        public static let graphQLTransportWS = Subprotocol(rawValue: "graphql-transport-ws")
        /// What servers of years ago speak:
        /// https://github.com/apollographql/subscriptions-transport-ws/blob/master/PROTOCOL.md
        public static let graphQLWS = Subprotocol(rawValue: "graphql-ws")
    }

    /// What is spoken; `graphql-transport-ws` by default.
    public var subprotocol = Subprotocol.graphQLTransportWS {
        didSet { identity = Identity() }
    }
    /// Where the WebSocket is, asked anew for each connection; nil, the default, where the endpoint is. With `http` or `ws`,
    /// `https` or `wss`.
    ///
    /// Credentials and fields of the app's own go there only if it is of the endpoint's origin, or of one that the app
    /// declares.
    public var url: (@Sendable () async throws -> URL)? {
        didSet { identity = Identity() }
    }
    /// What the server is told when a connection begins, as credentials, asked anew for each; nil, the default, tells it
    /// nothing.
    ///
    /// It is told to the endpoint's origin, and to those that the app declares: an operation that is moved elsewhere, as by an
    /// interceptor, begins without them. `url` may be anywhere.
    ///
    /// Operations share a connection that have the same URL, header fields and `partition`. Where nothing but these parameters
    /// tells who asks, set `NetworkOperation.partition`, or call `GraphQLEndpoint.retireConnections()` when that changes: else
    /// the next person's operations may join a connection of the last one's.
    public var parameters: (@Sendable () async throws -> JSONValue?)? {
        didSet { identity = Identity() }
    }
    /// Hears what happens to each connection that is made with these options: that it begins, opens, is acknowledged, is asked
    /// for signs of life, fails and ends (`GraphQLSocketEvent`). nil, the default, where nobody wants to know.
    ///
    /// It is called on any thread, with no lock held, in the way of all that the connection brings: return quickly. One
    /// connection's events come in order, but for signs of life that cross: it may be called for two at once. The next may begin
    /// before the last is told to be closed. Nothing of it is logged.
    public var onEvent: (@Sendable (GraphQLSocketEvent) -> Void)? {
        didSet { identity = Identity() }
    }
    /// How long the server may take to say that it takes operations. 10 s.
    public var acknowledgementTimeout = Duration.seconds(10) {
        didSet { identity = Identity() }
    }
    /// How long nothing may come before the server is asked for a sign of life by a message of the protocol's, or up to twice
    /// as long; nil, the default, leaves that to the pings of the WebSocket, every 30 s. The older protocol has no such
    /// message.
    public var keepAlive: Duration? {
        didSet { identity = Identity() }
    }
    /// How long such a sign may take. 20 s.
    public var pongTimeout = Duration.seconds(20) {
        didSet { identity = Identity() }
    }
    /// How long a connection is kept that no operation needs any more. 5 s.
    public var linger = Duration.seconds(5) {
        didSet { identity = Identity() }
    }
    /// Tells apart options that were set apart: functions cannot be compared.
    private(set) var identity = Identity()

    /// Options with the documented defaults.
    public init() {}

    /// Options with the documented defaults for a connection that speaks this protocol.
    public init(subprotocol: Subprotocol) {
        self.subprotocol = subprotocol
    }
}

extension GraphQLSocketOptions {
    /// The same object in all copies that were not changed.
    final class Identity: Sendable, Hashable {
        static func == (one: Identity, other: Identity) -> Bool { one === other }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
}
