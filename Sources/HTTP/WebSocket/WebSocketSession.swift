/// The protocol state of an open WebSocket, without its connection (RFC 6455, 5 to 7).
///
/// A session turns received bytes into messages and control replies, and turns messages into bytes to send. It has no
/// I/O and no clock: its owner moves the bytes and keeps the time.
package struct WebSocketSession {
    /// The approximate number of bytes prepared at a time. A longer message is split into fragments of this size, so
    /// that control frames can be sent between them.
    private static let chunkSize = 64 << 10

    private var decoder: WebSocketDecoder
    private var random = SystemRandomNumberGenerator()
    /// The messages to send. `offset` bytes of the first one have been sent.
    private var queue: [WebSocket.Message] = []
    private var offset = 0
    /// The number of unsent bytes in `queue`, plus a header for each message, so that empty messages count too.
    package private(set) var queuedBytes = 0
    /// The payload of the last unanswered ping.
    ///
    /// Older pings need no reply (RFC 6455, 5.5.3), so a flood of pings uses no memory.
    private var pong: [UInt8]?
    private var isPingDue = false
    /// Our close frame, until it is sent.
    private var closeToSend: WebSocket.Close?
    /// Whether our side has closed, even if its close frame hasn't been sent yet.
    package private(set) var isClosing = false
    /// The code and reason with which the server closed its side.
    package private(set) var peerClose: WebSocket.Close?
    /// The server's violation of the protocol.
    package private(set) var violation: NetworkError?

    /// Creates the session of a WebSocket that has just been opened.
    ///
    /// - Parameter maxMessageBytes: The maximum payload of a received message, in bytes.
    package init(maxMessageBytes: Int) {
        decoder = WebSocketDecoder(maxMessageBytes: maxMessageBytes)
    }

    /// Whether further data from the server is ignored.
    package var isOver: Bool { peerClose != nil || violation != nil }

    // MARK: from the server

    /// Processes received bytes and returns the messages that they complete, or no messages if our side has closed.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer) -> [WebSocket.Message] {
        var messages: [WebSocket.Message] = []
        var rest = bytes
        do throws(WebSocketViolation) {
            while !isOver, let event = try decoder.next(&rest) {
                switch event {
                case .message(let message): if !isClosing { messages.append(message) }
                // Answers pings until our close frame is sent (RFC 6455, 5.5.2).
                case .ping(let payload): if !isClosing || closeToSend != nil { pong = payload }
                case .pong: break
                case .close(let close):
                    peerClose = close
                    end(WebSocket.Close(close.code))
                }
            }
        } catch {
            violation = error.error
            end(WebSocket.Close(error.code))
        }
        return messages
    }

    /// Closes our side immediately and discards queued messages.
    private mutating func end(_ close: WebSocket.Close) {
        queue = []
        queuedBytes = 0
        guard !isClosing else { return }
        isClosing = true
        closeToSend = close
    }

    // MARK: to the server

    /// Queues a message.
    ///
    /// Does nothing if our side has closed.
    package mutating func send(_ message: WebSocket.Message) {
        guard !isClosing else { return }
        queue.append(message)
        queuedBytes += message.byteCount + WebSocketFrame.headerSize
    }

    /// Queues a ping.
    package mutating func ping() {
        if !isClosing { isPingDue = true }
    }

    /// Closes our side after the queued messages.
    package mutating func close(_ close: WebSocket.Close) {
        guard !isClosing else { return }
        isClosing = true
        closeToSend = close
    }

    /// Returns the next bytes to send, or an empty array.
    package mutating func nextChunk() -> [UInt8] {
        var chunk: [UInt8] = []
        if let payload = pong {
            pong = nil
            append(.pong, payload, to: &chunk)
        }
        if isPingDue {
            isPingDue = false
            append(.ping, [], to: &chunk)
        }
        if !queue.isEmpty { chunk.reserveCapacity(min(queuedBytes, Self.chunkSize) + 2 * WebSocketFrame.headerSize) }
        var whole = 0
        while whole < queue.count, chunk.count < Self.chunkSize {
            if appendFragment(of: queue[whole], to: &chunk) { whole += 1 }
        }
        queue.removeFirst(whole)
        if queue.isEmpty, let close = closeToSend {
            closeToSend = nil
            append(.close, close.payload, to: &chunk)
        }
        return chunk
    }

    private mutating func append(_ opcode: WebSocketOpcode, _ payload: [UInt8], to chunk: inout [UInt8]) {
        payload.withUnsafeBytes { WebSocketFrame.append(opcode, $0, mask: random.next(), to: &chunk) }
    }

    /// Appends the next fragment of a message, and returns whether it was the last.
    private mutating func appendFragment(of message: WebSocket.Message, to chunk: inout [UInt8]) -> Bool {
        let opcode: WebSocketOpcode =
            switch message {
            case _ where offset > 0: .continuation
            case .text: .text
            case .binary: .binary
            }
        let mask: UInt32 = random.next()
        let (count, isLast) = message.withPayload { payload in
            let part = UnsafeRawBufferPointer(rebasing: payload[offset...].prefix(Self.chunkSize))
            let isLast = offset + part.count == payload.count
            WebSocketFrame.append(opcode, isFinal: isLast, part, mask: mask, to: &chunk)
            return (part.count, isLast)
        }
        offset = isLast ? 0 : offset + count
        queuedBytes -= isLast ? count + WebSocketFrame.headerSize : count
        return isLast
    }
}
