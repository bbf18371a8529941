public import BeagleNetHTTP

extension GraphQLSocketOptions {
    /// An event of a WebSocket for GraphQL operations.
    ///
    /// See `GraphQLSocketOptions.onEvent`.
    public enum Event: Sendable {
        /// The direction of a ping or pong.
        public enum Direction: Sendable, Hashable {
            /// From the client to the server.
            case sent
            /// From the server to the client.
            case received
        }

        /// The client is connecting.
        ///
        /// It is a retry if the last connection of the same operations was lost or couldn't be opened less than ten
        /// minutes ago.
        case connecting(isRetry: Bool)
        /// The WebSocket is open.
        ///
        /// The initial message to the server follows.
        case opened
        /// The server accepts operations.
        ///
        /// The value is the payload of `connection_ack`, if it has one; it is for the app and may be secret. Reported
        /// once, before the first operation is sent.
        case connected(JSONValue?, isRetry: Bool)
        /// One side sent a ping message of the protocol; pings of the WebSocket itself aren't reported.
        ///
        /// The payload is `nil` if it is missing or can't be parsed.
        case ping(Direction, JSONValue?)
        /// One side sent a `pong`, or the server sent a `ka` of the older protocol.
        case pong(Direction, JSONValue?)
        /// The connection failed: it couldn't be opened, was lost, or the server violated the protocol or didn't send a
        /// pong in time.
        ///
        /// `closed` follows.
        case failed(NetworkError)
        /// The connection has ended.
        ///
        /// This is the last event of each connection, including one that was never open.
        ///
        /// The code is that of the side that closed the WebSocket according to the protocol. It is 1006 if neither side
        /// did, for example because a message was too large, and 4499 after `GraphQLEndpoint.terminateWebSockets()`.
        case closed(WebSocket.Close)
    }
}
