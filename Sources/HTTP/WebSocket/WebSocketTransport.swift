/// Opens WebSockets. `CurlTransport` is the one that talks to the network.
public protocol WebSocketTransport: Sendable {
    /// Connects and agrees with the server on a WebSocket; cancelling the task gives it up.
    ///
    /// - Parameter request: whom to ask, and the rules of the conversation.
    /// - Returns: the WebSocket, which ends when it is let go.
    /// - Throws: `NetworkError` where the server cannot be reached or does not agree: of kind `.status` where it
    ///   answered as to any request, with `response` and the begin of the body in `data`.
    func openWebSocket(_ request: WebSocketRequest) async throws(NetworkError) -> WebSocket
}

/// What a transport moves the messages of one WebSocket with: for those who write transports. `WebSocket` is for those
/// who use them.
public protocol WebSocketChannel: Sendable {
    /// The next message, as soon as there is one; nil when the conversation has ended well.
    func receive() async throws(NetworkError) -> WebSocketMessage?

    /// Sends a message; returns when there is room for another.
    func send(_ message: WebSocketMessage) async throws(NetworkError)

    /// Ends this side after what was sent, and waits for the other side's end.
    func close(_ close: WebSocketClose) async throws(NetworkError) -> WebSocketClose

    /// Why the server ended its side; nil while it has not.
    var peerClose: WebSocketClose? { get }

    /// Ends the connection at once: nobody uses it any more.
    func abandon()
}
