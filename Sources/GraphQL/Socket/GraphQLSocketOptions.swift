public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The options of operations over a WebSocket.
public struct GraphQLSocketOptions: Sendable {
    /// A WebSocket subprotocol.
    public struct Subprotocol: RawRepresentable, Sendable, Hashable {
        /// The protocol's name in `Sec-WebSocket-Protocol`.
        public let rawValue: String

        /// Creates a subprotocol from its name.
        ///
        /// Names other than the two below are refused.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The current protocol (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md).
        public static let graphQLTransportWS = Subprotocol(rawValue: "graphql-transport-ws")
        /// The protocol of older servers
        /// (https://github.com/apollographql/subscriptions-transport-ws/blob/master/PROTOCOL.md).
        public static let graphQLWS = Subprotocol(rawValue: "graphql-ws")
    }

    /// The subprotocol; `graphql-transport-ws` by default.
    public var subprotocol = Subprotocol.graphQLTransportWS {
        didSet { identity = Identity() }
    }
    /// The closure that returns the URL of the WebSocket, with the scheme `http`, `ws`, `https` or `wss`.
    ///
    /// It is called for each connection. `nil`, the default, uses the endpoint's URL.
    ///
    /// Credentials and header fields set by the app are only sent if the URL has the endpoint's origin, or one that the
    /// app declares.
    public var url: (@Sendable () async throws -> URL)? {
        didSet { identity = Identity() }
    }
    /// The closure that returns the parameters of the connection, such as credentials.
    ///
    /// It is called for each connection. `nil`, the default, sends none.
    ///
    /// Parameters are sent to the endpoint's origin and to those that the app declares. They are omitted for an
    /// operation that was moved elsewhere, for example by an interceptor. `url` may have any origin.
    ///
    /// Operations with the same URL, header fields and `partition` share a connection. If only these parameters
    /// identify the user, set `NetworkOperation.partition`, or call `GraphQLEndpoint.retireConnections()` when the user
    /// changes. Otherwise the next user's operations may join the previous user's connection.
    public var parameters: (@Sendable () async throws -> JSONValue?)? {
        didSet { identity = Identity() }
    }
    /// The closure that receives the events of each connection with these options, such as opening, acknowledgement,
    /// pings, failure and end (`GraphQLSocketOptions.Event`).
    ///
    /// `nil`, the default, ignores the events. They aren't logged.
    ///
    /// The closure is called on any thread without a lock held, and delays the connection's messages, so it should
    /// return quickly. The events of one connection arrive in order, except that pings and pongs of both directions may
    /// be reported at the same time. The next connection may begin before the last one is reported as closed.
    public var onEvent: (@Sendable (Event) -> Void)? {
        didSet { identity = Identity() }
    }
    /// The time limit for the server's acknowledgement of the connection.
    ///
    /// The default is 10 s.
    public var acknowledgementTimeout = Duration.seconds(10) {
        didSet { identity = Identity() }
    }
    /// The time without received messages after which the client sends a ping of the protocol.
    ///
    /// The ping may take up to twice that time. `nil`, the default, relies on the pings of the WebSocket, every 30 s.
    /// The older protocol has no such ping.
    public var keepAlive: Duration? {
        didSet { identity = Identity() }
    }
    /// The time limit for a response to a ping.
    ///
    /// The default is 20 s.
    public var pongTimeout = Duration.seconds(20) {
        didSet { identity = Identity() }
    }
    /// The time for which an unused connection is kept open.
    ///
    /// The default is 5 s.
    public var lingerDuration = Duration.seconds(5) {
        didSet { identity = Identity() }
    }
    /// The identity of separately configured options, because closures can't be compared.
    private(set) var identity = Identity()

    /// Creates options with the documented defaults.
    public init() {}

    /// Creates options with the documented defaults for a subprotocol.
    public init(subprotocol: Subprotocol) {
        self.subprotocol = subprotocol
    }
}

extension GraphQLSocketOptions {
    /// An object shared by all unchanged copies.
    final class Identity: Sendable, Hashable {
        static func == (one: Identity, other: Identity) -> Bool { one === other }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
}
