// A conversation over a WebSocket.
import BeagleNet
import BeagleNetCurl

func talk(over transport: any WebSocket.Transport) async throws {
    // snippet.webSocket
    let head = HTTPRequest(method: .get, scheme: "wss", authority: "example.com", path: "/chat")
    let socket = try await transport.openWebSocket(WebSocket.Request(head, subprotocols: ["chat"]))
    try await socket.send(.text("hello"))
    for try await message in socket.messages {
        switch message {
        case .text(let text): print(text)
        case .binary(let data): print(data.count, "bytes")
        }
    }
    // snippet.end
}

try await talk(over: CurlTransport())
