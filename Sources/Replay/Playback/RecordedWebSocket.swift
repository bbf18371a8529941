import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The messages of a recorded WebSocket.
package struct RecordedWebSocket: Sendable {
    /// A message, and the time to wait before it.
    package struct Message: Sendable {
        package let wait: Duration
        package let message: LogEntry.Message
    }

    /// The fields of the server's handshake response, except for those that the connection creates itself.
    package let fields: [LogEntry.Field]
    package let messages: [Message]

    init(_ entry: LogEntry, _ delays: ReplayTransport.Timing.Delays) {
        let own: Set = [
            "connection", "upgrade", "sec-websocket-accept", "sec-websocket-extensions", "content-length",
            "transfer-encoding",
        ]
        fields = (entry.response?.fields ?? []).filter { !own.contains($0.name.lowercased()) }
        messages = zip(entry.messages, entry.messages.prefix(1) + entry.messages).map { message, last in
            let gap = min(max(message.time.timeIntervalSince(last.time), 0) * delays.scale, 1e9)
            return Message(wait: delays.clamped(.seconds(gap)), message: message)
        }
    }
}
