/// A transport that opens WebSockets.
///
/// `CurlTransport` is the implementation that uses the network.
public protocol WebSocketTransport: Sendable {
    /// Connects to the server and performs the WebSocket handshake.
    ///
    /// Cancelling the task abandons the attempt.
    ///
    /// - Parameter request: The server, and the settings for the connection.
    /// - Returns: The WebSocket, which ends when it is released.
    /// - Throws: `NetworkError` if the server can't be reached or doesn't accept the handshake. The kind is `.status`
    ///   if the server sent an ordinary HTTP response, with `response` and the beginning of the body in `data`.
    func openWebSocket(_ request: WebSocketRequest) async throws(NetworkError) -> WebSocket
}

/// A transport's connection for the messages of one WebSocket.
///
/// Transports implement this protocol; apps use `WebSocket`.
public protocol WebSocketChannel: Sendable {
    /// Waits for the next message and returns it, or `nil` if the WebSocket has ended normally.
    func receive() async throws(NetworkError) -> WebSocketMessage?

    /// Sends a message, and returns when there is room for another one.
    func send(_ message: WebSocketMessage) async throws(NetworkError)

    /// Closes this side after all queued messages, and waits for the server to close.
    func close(_ close: WebSocketClose) async throws(NetworkError) -> WebSocketClose

    /// The code and reason with which the server closed its side, or `nil` if it hasn't.
    var peerClose: WebSocketClose? { get }

    /// Drops the connection immediately because it is no longer used.
    func abandon()
}
