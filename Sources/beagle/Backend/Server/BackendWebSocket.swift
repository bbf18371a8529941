import BeagleNetHTTP
import Foundation

/// The server's side of a WebSocket (RFC 6455), used by one thread.
final class BackendWebSocket {
    /// An event of the connection.
    enum Event {
        case message(WebSocket.Message)
        /// No message arrived before the deadline.
        case timeout
        /// The client has closed the WebSocket, and the close was acknowledged.
        case closed
    }

    /// A protocol violation, for which the server closes the WebSocket.
    private struct Violation: Error {
        let code: UInt16
        let reason: String
    }

    private struct Frame {
        let isLast: Bool
        let opcode: UInt8
        let payload: Data
    }

    /// The maximum size of a message, in bytes.
    private static let maxBytes = 16 << 20
    private let reader: BackendReader

    init(_ reader: BackendReader) {
        self.reader = reader
    }

    /// Returns the response to a request that opens a WebSocket.
    ///
    /// - Parameters:
    ///   - subprotocols: The subprotocols of the route, in order of preference. If there are any, the client must offer
    ///     one of them.
    ///   - converse: Communicates with the client until the WebSocket ends.
    static func accepting(
        _ request: BackendRequest,
        subprotocols: [String] = [],
        _ converse: @escaping (BackendWebSocket, _ subprotocol: String?) throws -> Void
    ) throws -> BackendResponse {
        let key = request.fields[.secWebSocketKey] ?? ""
        guard request.method == "GET", isUpgrade(request), Data(base64Encoded: key)?.count == 16,
            request.fields[.secWebSocketVersion] == "13"
        else {
            var refusal = try BackendResponse.problem(.upgradeRequired, "this route requires a WebSocket")
            refusal.fields[.upgrade] = "websocket"
            refusal.fields[.secWebSocketVersion] = "13"
            return refusal
        }
        let offered = request.fields[values: .secWebSocketProtocol].flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        let subprotocol = subprotocols.first(where: offered.contains)
        guard subprotocols.isEmpty || subprotocol != nil else {
            return try .problem(.badRequest, "offer the subprotocol \(subprotocols.joined(separator: " or "))")
        }
        var fields: HTTPFields = [.upgrade: "websocket", .connection: "Upgrade"]
        fields[.secWebSocketAccept] = try WebSocketHandshake.accept(key)
        fields[.secWebSocketProtocol] = subprotocol
        return BackendResponse(.switchingProtocols, fields, .webSocket { try converse($0, subprotocol) })
    }

    /// Returns whether a request opens a WebSocket.
    static func isUpgrade(_ request: BackendRequest) -> Bool {
        request.list(.upgrade).contains("websocket") && request.list(.connection).contains("upgrade")
    }

    // MARK: - Reading

    /// Reads the next message. Pings are answered in the meantime.
    func next(by deadline: ContinuousClock.Instant = .now + .seconds(3600)) throws -> Event {
        do {
            return try readMessage(by: deadline)
        } catch let violation as Violation {
            try close(violation.code, violation.reason)
            return .closed
        }
    }

    private func readMessage(by deadline: ContinuousClock.Instant) throws -> Event {
        var (opcode, bytes): (UInt8?, Data) = (nil, Data())
        while true {
            // A message that has begun is read completely, and an endless series of pings doesn't move the deadline.
            guard opcode != nil || reader.hasBytes(by: deadline) && ContinuousClock.now < deadline else {
                return .timeout
            }
            let frame = try readFrame(maxBytes: Self.maxBytes - bytes.count)
            switch frame.opcode {
            case 0x8:
                // RFC 6455, 5.5.1: a code has two bytes.
                guard frame.payload.count != 1 else {
                    throw Violation(code: 1002, reason: "a close frame contains only half a code")
                }
                try send(0x8, frame.payload.prefix(2))
                reader.socket.finish()
                return .closed
            case 0x9: try send(0xA, frame.payload)
            case 0xA: break
            case 0x0...0x2:
                guard (opcode == nil) == (frame.opcode != 0) else {
                    throw Violation(code: 1002, reason: "a frame is out of order")
                }
                opcode = opcode ?? frame.opcode
                bytes += frame.payload
                guard frame.isLast else { continue }
                if opcode == 0x2 { return .message(.binary(bytes)) }
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw Violation(code: 1007, reason: "a text message is not UTF-8")
                }
                return .message(.text(text))
            default: throw Violation(code: 1002, reason: "a frame has an unknown opcode")
            }
        }
    }

    private func readFrame(maxBytes: Int) throws -> Frame {
        let head = try reader.take(exactly: 2)
        let (first, second) = (head[head.startIndex], head[head.startIndex + 1])
        guard first & 0x70 == 0, second & 0x80 != 0 else {
            throw Violation(code: 1002, reason: "a frame has reserved bits, or no mask")
        }
        let isControl = first & 0x08 != 0
        var length = UInt64(second & 0x7F)
        if length >= 126 {
            guard !isControl else { throw Violation(code: 1002, reason: "a control frame is too long") }
            length = try reader.take(exactly: length == 126 ? 2 : 8).reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard !isControl || first & 0x80 != 0 else { throw Violation(code: 1002, reason: "a control frame is split") }
        guard length <= UInt64(max(0, maxBytes)) else { throw Violation(code: 1009, reason: "a message is too large") }
        let mask = Array(try reader.take(exactly: 4))
        let masked = try reader.take(exactly: Int(length))
        let payload = Data(masked.enumerated().map { $0.element ^ mask[$0.offset & 3] })
        return Frame(isLast: first & 0x80 != 0, opcode: first & 0x0F, payload: payload)
    }

    // MARK: - Sending

    func send(_ message: WebSocket.Message) throws {
        switch message {
        case .text(let text): try send(0x1, Data(text.utf8))
        case .binary(let data): try send(0x2, data)
        }
    }

    /// Sends a close frame, and waits up to a second for the client's.
    func close(_ code: UInt16, _ reason: String = "") throws {
        try send(0x8, Data([UInt8(code >> 8), UInt8(code & 0xFF)] + reason.utf8))
        reader.socket.finish()
        try reader.drain(for: .seconds(1))
    }

    private func send(_ opcode: UInt8, _ payload: Data) throws {
        try reader.socket.write(WebSocketFrame.unmasked(opcode, payload))
    }
}
