public import BeagleNetHTTP

/// What happens to a WebSocket of GraphQL operations, from its beginning to its end. See `GraphQLSocketOptions.onEvent`.
public enum GraphQLSocketEvent: Sendable {
    /// Which way a sign of life went.
    public enum Direction: Sendable, Hashable {
        /// From this side to the server.
        case sent
        /// From the server to this side.
        case received
    }

    /// A connection is begun: a retry where the last one of the same operations was lost or could not be made, and was so
    /// less than ten minutes ago.
    case connecting(isRetry: Bool)
    /// The WebSocket is open. What the server is told first follows.
    case opened
    /// The server takes operations, and may have said something with it (the payload of `connection_ack`): that is for the app,
    /// and may be secret. Told once, before the first operation is asked for.
    case connected(JSONValue?, isRetry: Bool)
    /// One side asked for a sign of life, by a message of the protocol's; those of the WebSocket itself are not told.
    /// Of what came with it nil is known where no value can hold it.
    case ping(Direction, JSONValue?)
    /// One side gave a sign of life: `pong`, or `ka` of the older protocol.
    case pong(Direction, JSONValue?)
    /// It fails: it could not be opened, was lost, or the server broke the protocol or gave no sign of life in time. `closed`
    /// follows.
    case failed(NetworkError)
    /// It is over: the last event of each connection, also of one that was never open. The code is that of the side which said
    /// goodbye for a reason of the protocol's; 1006 where none did, as where a message was too large, and 4499 after
    /// `GraphQLEndpoint.terminateWebSockets()`.
    case closed(WebSocketClose)
}
