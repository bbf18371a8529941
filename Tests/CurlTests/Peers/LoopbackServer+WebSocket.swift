import BeagleNetCurl
import BeagleNetTesting
import CurlPeers

@testable import BeagleNetHTTP

extension LoopbackServer.Answer {
    /// Agrees on a WebSocket with a client of this key, and then does that. What the client sends is a request no more:
    /// let it end with a step that drops it.
    ///
    /// - Parameter fields: what else the head says, with the ends of the lines.
    static func webSocket(
        _ key: String,
        fields: String = "",
        _ then: LoopbackServer.Answer
    ) -> LoopbackServer.Answer {
        guard let accept = try? WebSocketHandshake.accept(key) else { return .response(500) }
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        return .sequence([.raw(head + fields + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"), then])
    }
}

extension LoopbackServer {
    /// A server that agrees on a WebSocket and then does this.
    convenience init(webSocket: Answer) throws {
        try self.init { request in .webSocket(request["Sec-WebSocket-Key"] ?? "", webSocket) }
    }

    /// A WebSocket at this server.
    var webSocketRequest: WebSocketRequest {
        let head = HTTPRequest(method: .get, scheme: "ws", authority: authority, path: "/")
        return WebSocketRequest(head, options: .impatient)
    }
}

extension WebSocket {
    /// The messages to the end.
    func rest() async throws(NetworkError) -> [WebSocketMessage] {
        var messages: [WebSocketMessage] = []
        for try await message in self.messages { messages.append(message) }
        return messages
    }

    func next() async throws(NetworkError) -> WebSocketMessage? {
        var iterator = messages.makeAsyncIterator()
        return try await iterator.next()
    }
}
