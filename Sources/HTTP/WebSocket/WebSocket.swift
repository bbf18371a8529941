/// A two-way exchange of messages over one connection (RFC 6455).
///
/// ```swift
/// let socket = try await transport.openWebSocket(WebSocket.Request(head))
/// try await socket.send(.text("hello"))
/// for try await message in socket.messages { print(message) }
/// ```
///
/// Both directions have back-pressure: the server has to wait if the app reads slowly, and `send` waits if the server
/// reads slowly. Pings are answered, and sent while the connection is idle, automatically.
///
/// Releasing the socket and its iterators, or cancelling a task that is waiting in one of its methods, drops the
/// connection without a close frame. `close` sends one.
public final class WebSocket: Sendable {
    /// The head of the server's response to the handshake.
    public let response: HTTPResponse
    private let channel: any Channel

    /// Creates a WebSocket over a transport's channel.
    public init(response: HTTPResponse, channel: any Channel) {
        self.response = response
        self.channel = channel
    }

    deinit {
        channel.abandon()
    }

    /// The protocol that the server chose from `WebSocket.Request.subprotocols`, or `nil` if it chose none.
    public var subprotocol: String? { response.headerFields[.secWebSocketProtocol] }

    /// The code and reason with which the server closed its side, or `nil` if it hasn't.
    ///
    /// `reason` is the server's own text.
    public var peerClose: Close? { channel.peerClose }

    /// The incoming messages.
    ///
    /// Each message is delivered once, to one iterator. The sequence ends when either side closes normally: the server
    /// with 1000, 1001 or no code, or the app with `close`.
    ///
    /// Iterating throws a `NetworkError` of kind `.closed` if the server closed for another reason (see `peerClose`),
    /// `.protocol` or `.tooLarge` if the server violated the protocol, `.timeout` if a ping wasn't answered, and
    /// `.network` if the connection was lost.
    public var messages: Messages { Messages(socket: self) }

    /// Sends a message, and returns when at most 256 KiB are waiting to be sent.
    ///
    /// The server may not have received the message by then. A large message is sent in fragments, with pings and pongs
    /// between them.
    ///
    /// - Throws: `NetworkError` if the WebSocket has ended.
    public func send(_ message: Message) async throws(NetworkError) {
        try await channel.send(message)
    }

    /// Sends a close frame after all queued messages, and waits for the server's close frame.
    ///
    /// Messages that arrive in the meantime are discarded. If the WebSocket has already ended normally, this method
    /// returns its close again.
    ///
    /// - Parameters:
    ///   - code: The close code.
    ///   - reason: The reason as text, at most 123 bytes in UTF-8.
    /// - Returns: The code and reason that the server sent.
    /// - Throws: `NetworkError` of kind `.badRequest` if the code or reason is invalid, or `.timeout` if the server
    ///   took longer than `WebSocket.Request.closeTimeout`. If the WebSocket has already failed, throws its error.
    @discardableResult
    public func close(_ code: Close.Code = .normal, reason: String = "") async throws(NetworkError)
        -> Close
    {
        let close = Close(code, reason: reason)
        try close.validate()
        return try await channel.close(close)
    }

    /// The sequence of incoming messages.
    public struct Messages: AsyncSequence, Sendable {
        /// An iterator over the messages.
        ///
        /// Several iterators share the messages.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: WebSocket

            /// Waits for the next message and returns it, or `nil` at the end.
            public mutating func next() async throws(NetworkError) -> Message? {
                try await socket.channel.receive()
            }

            /// Waits for the next message and returns it, or `nil` at the end.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(NetworkError) -> Message? {
                try await socket.channel.receive()
            }
        }

        let socket: WebSocket

        /// Creates an iterator that begins with the first message that hasn't been read.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(socket: socket) }
    }
}
