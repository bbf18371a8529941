/// One message of a WebSocket, in however many frames it travels (RFC 6455, 5.6).
public enum WebSocketMessage: Sendable, Hashable {
    /// Text, on the wire in UTF-8.
    case text(String)
    /// Bytes.
    case binary(Data)

    /// Bytes of its payload.
    package var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let data): data.count
        }
    }

    func withPayload<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        switch self {
        case .text(var text): text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        case .binary(let data): data.withUnsafeBytes(body)
        }
    }
}
