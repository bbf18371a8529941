#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension LogEntry {
    /// A message of a WebSocket, or an event of an event stream.
    public struct Message: Sendable, Hashable {
        /// The direction of a message.
        public enum Direction: String, Sendable, Hashable {
            /// To the server.
            case send
            /// From the server.
            case receive
        }

        /// The direction of the message.
        public var direction: Direction
        /// The time at which the message was sent or received.
        public var time: Date
        /// The WebSocket opcode (RFC 6455): 1 text, 2 binary, 8 close.
        ///
        /// Always 1 for an event stream.
        public var opcode: Int
        /// The message's bytes.
        ///
        /// For an event, its text as received, without the empty line that ends it.
        public var data: Data

        /// Creates a message.
        public init(_ direction: Direction, at time: Date, opcode: Int = 1, _ data: Data) {
            self.direction = direction
            self.time = time
            self.opcode = opcode
            self.data = data
        }
    }
}

extension LogEntry.Message {
    /// Truncates the message to a number of bytes; text is cut at a character boundary.
    mutating func cut(to limit: Int) {
        guard data.count > limit else { return }
        var end = data.startIndex + limit
        if opcode != 2 {
            while end > data.startIndex, data[end] & 0xC0 == 0x80 { end -= 1 }
        }
        data = Data(data[..<end])
    }
}
