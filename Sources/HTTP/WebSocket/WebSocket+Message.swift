extension WebSocket {
    /// A message of a WebSocket, in one or more frames (RFC 6455, 5.6).
    public enum Message: Sendable, Hashable {
        /// Text, sent as UTF-8.
        case text(String)
        /// Binary data.
        case binary(Data)

        /// The size of the payload, in bytes.
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
}
