import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a client says over a WebSocket.
enum SocketRequest: Sendable, Hashable {
    /// The first message; with parameters, the text of an object, where there are some: `null` is refused by servers.
    case initialisation(Data?)
    /// An operation of this id and these parameters (`subscribe`, `start`).
    case operation(id: Int, Data)
    /// Nobody wants more of it (`complete`, `stop`).
    case cancellation(id: Int)
    /// Asks for a sign of life.
    case ping
    /// The sign of life that was asked for, with the payload that came.
    case pong(Data?)
    /// The last message of the older protocol.
    case termination

    /// The message on the wire.
    func text(_ subprotocol: GraphQLSocketOptions.Subprotocol) -> String {
        let isOlder = subprotocol == .graphQLWS
        switch self {
        case .initialisation(let parameters): return text("connection_init", nil, parameters)
        case .operation(let id, let parameters): return text(isOlder ? "start" : "subscribe", id, parameters)
        case .cancellation(let id): return text(isOlder ? "stop" : "complete", id, nil)
        case .ping: return text("ping", nil, nil)
        case .pong(let payload): return text("pong", nil, payload)
        case .termination: return text("connection_terminate", nil, nil)
        }
    }

    private func text(_ type: String, _ id: Int?, _ payload: Data?) -> String {
        var output = JSONOutput(capacity: 64 + (payload?.count ?? 0))
        output.object { output in
            if let id { output.member("id", "\(id)") }
            output.member("type", type)
            guard let payload else { return }
            output.name("payload")
            output.raw(payload)
        }
        return String(decoding: output.bytes, as: UTF8.self)
    }
}
