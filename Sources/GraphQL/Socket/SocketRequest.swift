import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A message from the client.
enum SocketRequest: Sendable, Hashable {
    /// The first message, with parameters as the text of an object, if there are any. Servers refuse `null`.
    case initialisation(Data?)
    /// An operation with its ID and request parameters (`subscribe`, `start`).
    case operation(id: Int, Data)
    /// The cancellation of an operation (`complete`, `stop`).
    case cancellation(id: Int)
    /// A ping.
    case ping
    /// A pong, with the payload of the ping.
    case pong(Data?)
    /// The last message of the older protocol.
    case termination

    /// Returns the text of the message.
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
