/// A conversation of messages over one connection (RFC 6455).
///
/// ```swift
/// let socket = try await transport.openWebSocket(WebSocketRequest(head))
/// try await socket.send(.text("hello"))
/// for try await message in socket.messages { print(message) }
/// ```
/// Each side reads at its own pace: a reader that is behind makes the server wait, and `send` waits where the server is
/// behind. Pings are answered, and sent while nothing comes, without anybody's doing. Letting go of the socket and its
/// iterators, or cancelling a task that waits in one of its methods, ends the connection without a goodbye; `close` says one.
public final class WebSocket: Sendable {
    /// The head of the server's answer to the handshake.
    public let response: HTTPResponse
    private let channel: any WebSocketChannel

    /// A WebSocket over a transport's channel.
    public init(response: HTTPResponse, channel: any WebSocketChannel) {
        self.response = response
        self.channel = channel
    }

    deinit {
        channel.abandon()
    }

    /// The protocol that the server chose of `WebSocketRequest.subprotocols`; nil: none.
    public var subprotocol: String? { response.headerFields[.secWebSocketProtocol] }

    /// Why the server ended its side; nil while it has not. What it says in `reason` is the server's own text.
    public var peerClose: WebSocketClose? { channel.peerClose }

    /// The messages that come, each given once, whoever asks. The sequence ends when either side has closed as one does
    /// when all is well: the server with 1000, 1001 or without a code, or the app with `close`.
    ///
    /// It throws a `NetworkError`: of kind `.closed` where the server closed for another reason (see `peerClose`),
    /// `.protocol` or `.tooLarge` where it broke the rules, `.timeout` where a ping had no answer, `.network` where the
    /// connection was lost.
    public var messages: Messages { Messages(socket: self) }

    /// Sends a message. A large one goes out in fragments, with pings and pongs between.
    ///
    /// It returns when no more than 256 KiB wait to be sent: the server may not have it yet.
    ///
    /// - Throws: `NetworkError` where the WebSocket has ended.
    public func send(_ message: WebSocketMessage) async throws(NetworkError) {
        try await channel.send(message)
    }

    /// Says goodbye after what was sent, and waits for the server to do the same. Messages that come meanwhile are
    /// dropped. A WebSocket that has ended well already gives its end again.
    ///
    /// - Parameters:
    ///   - code: why.
    ///   - reason: why, in words: at most 123 bytes in UTF-8.
    /// - Returns: what the server said.
    /// - Throws: `NetworkError`, of kind `.badRequest` where code or reason cannot be sent, `.timeout` where the server
    ///   took longer than `WebSocketRequest.closeTimeout`, else why the WebSocket ended before.
    @discardableResult
    public func close(_ code: WebSocketClose.Code = .normal, reason: String = "") async throws(NetworkError)
        -> WebSocketClose
    {
        let close = WebSocketClose(code, reason: reason)
        try close.validate()
        return try await channel.close(close)
    }

    /// The messages that come.
    public struct Messages: AsyncSequence, Sendable {
        /// Gives the messages; several take turns.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: WebSocket

            /// The next message, as soon as there is one; nil at the end.
            public mutating func next() async throws(NetworkError) -> WebSocketMessage? {
                try await socket.channel.receive()
            }

            /// The next message, as soon as there is one; nil at the end.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(NetworkError) -> WebSocketMessage? {
                try await socket.channel.receive()
            }
        }

        let socket: WebSocket

        /// Begins with the first message that nobody has taken.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(socket: socket) }
    }
}
