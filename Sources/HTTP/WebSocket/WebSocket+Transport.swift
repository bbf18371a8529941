extension WebSocket {
    /// A transport that opens WebSockets.
    ///
    /// `CurlTransport` is the implementation that uses the network.
    public protocol Transport: Sendable {
        /// Connects to the server and performs the WebSocket handshake.
        ///
        /// Cancelling the task abandons the attempt.
        ///
        /// - Parameter request: The server, and the settings for the connection.
        /// - Returns: The WebSocket, which ends when it is released.
        /// - Throws: `NetworkError` if the server can't be reached or doesn't accept the handshake. The kind is
        ///   `.status` if the server sent an ordinary HTTP response, with `response` and the beginning of the body in
        ///   `data`.
        func openWebSocket(_ request: Request) async throws(NetworkError) -> WebSocket
    }
}

extension WebSocket {
    /// A transport's connection for the messages of one WebSocket.
    ///
    /// Transports implement this protocol; apps use `WebSocket`.
    public protocol Channel: Sendable {
        /// Waits for the next message and returns it, or `nil` if the WebSocket has ended normally.
        func receive() async throws(NetworkError) -> Message?

        /// Sends a message, and returns when there is room for another one.
        func send(_ message: Message) async throws(NetworkError)

        /// Closes this side after all queued messages, and waits for the server to close.
        func close(_ close: Close) async throws(NetworkError) -> Close

        /// The code and reason with which the server closed its side, or `nil` if it hasn't.
        var peerClose: Close? { get }

        /// Drops the connection immediately because it is no longer used.
        func abandon()
    }
}
