/// A decoder for frames from a server and the messages that they form (RFC 6455, 5). The input may be split at any
/// byte.
struct WebSocketDecoder {
    /// A complete message or control frame.
    enum Event: Equatable {
        case message(WebSocket.Message), ping([UInt8]), pong, close(WebSocket.Close)
    }

    private struct Frame {
        let opcode: WebSocketOpcode
        let isFinal: Bool
        /// The number of payload bytes still missing.
        var rest: Int
    }

    private let maxMessageBytes: Int
    /// The bytes received so far of the next frame's header.
    private var header: [UInt8] = []
    private var frame: Frame?
    /// The payload of a control frame, which may arrive between the fragments of a message.
    private var control: [UInt8] = []
    /// The message whose fragments are being received.
    private var message: (opcode: WebSocketOpcode, payload: Data)?

    init(maxMessageBytes: Int) {
        self.maxMessageBytes = maxMessageBytes
    }

    /// Decodes up to the next event and removes the bytes read, or returns `nil` if all bytes have been read.
    mutating func next(_ bytes: inout UnsafeRawBufferPointer) throws(WebSocketViolation) -> Event? {
        while true {
            if frame == nil {
                guard let begun = try readHeader(&bytes) else { return nil }
                frame = begun
            }
            guard let ended = readPayload(&bytes) else { return nil }
            if let event = try finish(ended) { return event }
        }
    }

    private mutating func readHeader(_ bytes: inout UnsafeRawBufferPointer) throws(WebSocketViolation) -> Frame? {
        while header.count < 2 || header.count < lengthSize + 2 {
            guard let byte = bytes.first else { return nil }
            header.append(byte)
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
            // An invalid frame is reported as soon as its first two bytes are known.
            if header.count == 2 { _ = try opcode() }
        }
        defer { header.removeAll(keepingCapacity: true) }
        let opcode = try opcode()
        let length = try length()
        if !opcode.isControl { try begin(opcode, length) }
        return Frame(opcode: opcode, isFinal: header[0] & 0x80 != 0, rest: length)
    }

    /// The number of length bytes after the first two header bytes.
    private var lengthSize: Int {
        switch header[1] & 0x7F {
        case 126: 2
        case 127: 8
        default: 0
        }
    }

    private func opcode() throws(WebSocketViolation) -> WebSocketOpcode {
        guard header[0] & 0x70 == 0 else {
            throw WebSocketViolation(.protocolError, "a frame uses an extension that was not negotiated")
        }
        guard let opcode = WebSocketOpcode(rawValue: header[0] & 0x0F) else {
            throw WebSocketViolation(.protocolError, "a frame has the unknown opcode \(header[0] & 0x0F)")
        }
        guard header[1] & 0x80 == 0 else {
            throw WebSocketViolation(.protocolError, "the server masked a frame")
        }
        guard !opcode.isControl || (header[0] & 0x80 != 0 && header[1] <= 125) else {
            throw WebSocketViolation(.protocolError, "a control frame is fragmented or longer than 125 bytes")
        }
        return opcode
    }

    private func length() throws(WebSocketViolation) -> Int {
        guard lengthSize > 0 else { return Int(header[1]) }
        let length = header[2...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length > (lengthSize == 2 ? 125 : 0xFFFF), length <= UInt64(Int64.max) else {
            throw WebSocketViolation(.protocolError, "a frame's length is encoded in too many bytes")
        }
        return Int(clamping: length)
    }

    /// Begins a message, or continues one, with a data frame.
    private mutating func begin(_ opcode: WebSocketOpcode, _ length: Int) throws(WebSocketViolation) {
        guard (opcode == .continuation) == (message != nil) else {
            throw WebSocketViolation(
                .protocolError,
                message == nil
                    ? "a message begins with a continuation frame" : "a message begins inside another message"
            )
        }
        if message == nil { message = (opcode, Data()) }
        guard length <= maxMessageBytes - (message?.payload.count ?? 0) else {
            throw WebSocketViolation(
                .messageTooBig,
                "a message is larger than the \(maxMessageBytes) bytes allowed"
            )
        }
    }

    /// Reads the available payload bytes, and returns the frame if it is complete.
    private mutating func readPayload(_ bytes: inout UnsafeRawBufferPointer) -> Frame? {
        guard var current = frame else { return nil }
        let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(current.rest))
        bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(part.count))
        if current.opcode.isControl {
            control.append(contentsOf: part)
        } else if !part.isEmpty {
            message?.payload.append(contentsOf: part)
        }
        current.rest -= part.count
        frame = current.rest == 0 ? nil : current
        return current.rest == 0 ? current : nil
    }

    private mutating func finish(_ frame: Frame) throws(WebSocketViolation) -> Event? {
        switch frame.opcode {
        case .close: return .close(try WebSocket.Close(payload: takeControl()))
        case .ping: return .ping(takeControl())
        case .pong:
            control = []
            return .pong
        case .continuation, .text, .binary:
            guard frame.isFinal, let whole = message else { return nil }
            message = nil
            guard whole.opcode == .text else { return .message(.binary(whole.payload)) }
            // Validated as a whole, since checking each piece would only detect errors earlier (RFC 6455, 8.1).
            guard let text = String(validating: whole.payload, as: UTF8.self) else {
                throw WebSocketViolation(.invalidPayload, "a text message is not valid UTF-8")
            }
            return .message(.text(text))
        }
    }

    private mutating func takeControl() -> [UInt8] {
        defer { control = [] }
        return control
    }
}
