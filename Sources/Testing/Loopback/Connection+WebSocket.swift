import BeagleNetHTTP
import BeagleNetReplay

extension LoopbackServer.Request {
    /// Whether the request opens a WebSocket (RFC 6455, 4.1).
    var isWebSocket: Bool {
        self["Upgrade"]?.lowercased() == "websocket" && self["Sec-WebSocket-Key"] != nil
    }
}

extension Connection {
    /// Replays the server's side of a recorded WebSocket; returns `false`, because the connection must then be closed.
    mutating func replayWebSocket(_ answers: RecordedResponses, about request: LoopbackServer.Request) -> Bool {
        do throws(NetworkError) {
            let conversation = try answers.webSocket(for: request.logged)
            let accept = try WebSocketHandshake.accept(request["Sec-WebSocket-Key"] ?? "")
            let fields = [
                LogEntry.Field("Upgrade", "websocket"), LogEntry.Field("Connection", "Upgrade"),
                LogEntry.Field("Sec-WebSocket-Accept", accept),
            ]
            guard send(Self.head(101, "Switching Protocols", fields + conversation.fields)) else { return false }
            for next in conversation.messages {
                let isDone = next.message.direction == .send ? receiveMessage() : sendMessage(next, answers)
                guard isDone else { return false }
            }
            // Close code 1000, the normal closure; then the client's close frame is awaited.
            if send(frame: 8, Data([0x03, 0xE8])) { _ = receiveMessage() }
        } catch {
            return sendNotInRecording(error, request.method)
        }
        return false
    }

    /// Sends a recorded message, or returns `false` if it is the last.
    private mutating func sendMessage(_ next: RecordedWebSocket.Message, _ answers: RecordedResponses) -> Bool {
        guard next.wait == .zero || outcome(of: { try await answers.wait(next.wait) }) != nil else { return false }
        let message = next.message
        guard message.opcode == 8 else { return send(frame: message.opcode == 2 ? 2 : 1, message.data) }
        // The recorded form is `1001 going away`.
        let words = String(decoding: message.data, as: UTF8.self).split(separator: " ", maxSplits: 1)
        let code = words.first.flatMap { UInt16($0) } ?? 1000
        let reason = words.count > 1 ? Data(words[1].utf8.prefix(123)) : Data()
        if send(frame: 8, Data([UInt8(code >> 8), UInt8(code & 0xFF)]) + reason) { _ = receiveMessage() }
        return false
    }

    /// Sends an unmasked frame (RFC 6455, 5.2).
    func send(frame opcode: UInt8, _ payload: Data) -> Bool {
        send(WebSocketFrame.unmasked(opcode, payload))
    }

    /// Waits for the end of a message and responds to pings, or returns `false` if the client closes.
    private mutating func receiveMessage() -> Bool {
        while let (opcode, isFinal, payload) = readFrame() {
            switch opcode {
            case 8:
                _ = send(frame: 8, payload.prefix(2))
                return false
            case 9:
                guard send(frame: 10, payload) else { return false }
            case 10: break
            default: if isFinal { return true }
            }
        }
        return false
    }

    /// Reads a frame, or returns `nil` if the connection ends or a frame is larger than any test sends.
    mutating func readFrame() -> (opcode: UInt8, isFinal: Bool, payload: Data)? {
        guard let start = take(2) else { return nil }
        var count = Int(start[1] & 0x7F)
        if count > 125 {
            guard let length = take(count == 126 ? 2 : 8) else { return nil }
            count = length.prefix(8).reduce(0) { $0 &* 256 &+ Int($1) }
        }
        guard (0...Self.maxBytes).contains(count) else { return nil }
        guard start[1] & 0x80 != 0 else { return nil }
        guard let mask = take(4), let bytes = take(count) else { return nil }
        let payload = Data(bytes.enumerated().map { $1 ^ mask[$0 % 4] })
        return (start[0] & 0x0F, start[0] & 0x80 != 0, payload)
    }
}
