extension GraphQLEndpoint {
    /// A transport for subscriptions.
    public enum SubscriptionTransport: Sendable {
        /// A WebSocket shared by all operations of an endpoint, with the `graphql-transport-ws` protocol or its
        /// predecessor.
        case webSocket(GraphQLSocketOptions = GraphQLSocketOptions())
        /// Server-sent events (https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md).
        case events(Events = .distinct)
        /// A multipart body
        /// (https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol).
        case multipart

        /// The assignment of operations to event streams.
        public enum Events: Sendable, Hashable {
            /// Each subscription has its own connection.
            case distinct
            /// All operations share one stream, which is reserved first.
            ///
            /// It is for HTTP/1.1, where the number of connections is limited.
            case single
        }

        var isWebSocket: Bool {
            if case .webSocket = self { return true }
            return false
        }

        /// The name of the transport, which also identifies it in remembered refusals.
        var name: String {
            switch self {
            case .webSocket(let options): "WebSocket with \(options.subprotocol.rawValue)"
            case .events(.distinct): "event streams"
            case .events(.single): "a shared event stream"
            case .multipart: "multipart"
            }
        }
    }
}
