/// An open WebSocket without its connection: bytes that came make messages and answers, messages make bytes to send.
/// No I/O and no clock: who owns it moves the bytes and knows the time (RFC 6455, 5 to 7).
package struct WebSocketSession {
    /// About as many bytes are made ready at a time. A longer message goes out in fragments of this size, so that
    /// control frames come between.
    private static let chunkSize = 64 << 10

    private var decoder: WebSocketDecoder
    private var random = SystemRandomNumberGenerator()
    /// Messages to send, and how much of the first has gone.
    private var queue: [WebSocketMessage] = []
    private var offset = 0
    /// Bytes of `queue` that have yet to go, with a header's for each message: empty ones are not for nothing.
    package private(set) var queuedBytes = 0
    /// The last ping that has no answer yet: an older one needs none (RFC 6455, 5.5.3), so that a flood of pings costs
    /// no memory.
    private var pong: [UInt8]?
    private var isPingDue = false
    /// Our close frame, until it goes.
    private var closeToSend: WebSocketClose?
    /// Whether our side has ended, be its close frame still on its way.
    package private(set) var isClosing = false
    /// Why the server ended its side.
    package private(set) var peerClose: WebSocketClose?
    /// How the server broke the protocol.
    package private(set) var violation: NetworkError?

    /// - Parameter maxMessageBytes: the largest payload of a message taken.
    package init(maxMessageBytes: Int) {
        decoder = WebSocketDecoder(maxMessageBytes: maxMessageBytes)
    }

    /// Whether nothing more of what the server sends counts.
    package var isOver: Bool { peerClose != nil || violation != nil }

    // MARK: from the server

    /// Takes bytes in and gives the messages that they complete; none once our side has ended.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer) -> [WebSocketMessage] {
        var messages: [WebSocketMessage] = []
        var rest = bytes
        do throws(WebSocketViolation) {
            while !isOver, let event = try decoder.next(&rest) {
                switch event {
                case .message(let message): if !isClosing { messages.append(message) }
                // Until the close frame has gone (RFC 6455, 5.5.2).
                case .ping(let payload): if !isClosing || closeToSend != nil { pong = payload }
                case .pong: break
                case .close(let close):
                    peerClose = close
                    end(WebSocketClose(close.code))
                }
            }
        } catch {
            violation = error.error
            end(WebSocketClose(error.code))
        }
        return messages
    }

    /// Ends our side at once: what is queued is not wanted any more.
    private mutating func end(_ close: WebSocketClose) {
        queue = []
        queuedBytes = 0
        guard !isClosing else { return }
        isClosing = true
        closeToSend = close
    }

    // MARK: to the server

    /// Queues a message; without effect once our side has ended.
    package mutating func send(_ message: WebSocketMessage) {
        guard !isClosing else { return }
        queue.append(message)
        queuedBytes += message.byteCount + WebSocketFrame.headerSize
    }

    /// Queues a ping.
    package mutating func ping() {
        if !isClosing { isPingDue = true }
    }

    /// Ends our side after what is queued.
    package mutating func close(_ close: WebSocketClose) {
        guard !isClosing else { return }
        isClosing = true
        closeToSend = close
    }

    /// The next bytes to send; empty where there are none.
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

    /// Appends the first or next fragment of a message; gives whether it was the last.
    private mutating func appendFragment(of message: WebSocketMessage, to chunk: inout [UInt8]) -> Bool {
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
