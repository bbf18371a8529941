#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A message of a WebSocket, or an event of an event stream.
public struct LoggedMessage: Sendable, Hashable {
    /// Which way it went.
    public enum Direction: String, Sendable, Hashable {
        /// To the server.
        case send
        /// From the server.
        case receive
    }

    /// Which way it went.
    public var direction: Direction
    /// When.
    public var time: Date
    /// RFC 6455's number for what it is: 1 text, 2 binary, 8 close; of an event stream always 1.
    public var opcode: Int
    /// Its bytes; of an event those of the event as it came, without the empty line behind it.
    public var data: Data

    /// Describes a message.
    public init(_ direction: Direction, at time: Date, opcode: Int = 1, _ data: Data) {
        self.direction = direction
        self.time = time
        self.opcode = opcode
        self.data = data
    }
}
