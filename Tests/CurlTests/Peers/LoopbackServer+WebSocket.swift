import BeagleNetCurl
import BeagleNetTesting
import CurlPeers

@testable import BeagleNetHTTP

extension LoopbackServer.Response {
    /// Accepts the WebSocket of a client with this key and then performs a step. The server can't parse the client's
    /// frames as requests, so the step must end with one that drops them.
    ///
    /// - Parameter fields: Additional lines of the response head, with their line ends.
    static func webSocket(
        _ key: String,
        fields: String = "",
        _ then: LoopbackServer.Response
    ) -> LoopbackServer.Response {
        guard let accept = try? WebSocketHandshake.accept(key) else { return .response(500) }
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        return .sequence([.raw(head + fields + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"), then])
    }
}

extension LoopbackServer {
    /// Creates a server that accepts a WebSocket and then performs a step.
    convenience init(webSocket: Response) throws {
        try self.init { request in .webSocket(request["Sec-WebSocket-Key"] ?? "", webSocket) }
    }

    /// A request for a WebSocket at this server.
    var webSocketRequest: WebSocket.Request {
        let head = HTTPRequest(method: .get, scheme: "ws", authority: authority, path: "/")
        return WebSocket.Request(head, options: .limited)
    }
}

extension WebSocket {
    /// Returns the remaining messages.
    func rest() async throws(NetworkError) -> [Message] {
        var messages: [Message] = []
        for try await message in self.messages { messages.append(message) }
        return messages
    }

    func next() async throws(NetworkError) -> Message? {
        var iterator = messages.makeAsyncIterator()
        return try await iterator.next()
    }
}
