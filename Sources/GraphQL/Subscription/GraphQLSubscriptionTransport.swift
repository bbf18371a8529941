/// A way in which a server takes subscriptions.
public enum GraphQLSubscriptionTransport: Sendable {
    /// A WebSocket that all operations of an endpoint share: `graphql-transport-ws`, or what came before it.
    case webSocket(GraphQLSocketOptions = GraphQLSocketOptions())
    /// Server-sent events (https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md).
    case events(Events = .distinct)
    /// A body of parts (https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol).
    case multipart

    /// How events are told apart.
    public enum Events: Sendable, Hashable {
        /// Each subscription has a connection of its own.
        case distinct
        /// All share one, which is reserved first: for connections over HTTP/1.1, of which there may be few.
        case single
    }

    var isWebSocket: Bool {
        if case .webSocket = self { return true }
        return false
    }

    /// What a refusal is remembered by.
    var name: String {
        switch self {
        case .webSocket(let options): "WebSocket with \(options.subprotocol.rawValue)"
        case .events(.distinct): "event streams"
        case .events(.single): "a shared event stream"
        case .multipart: "multipart"
        }
    }
}
