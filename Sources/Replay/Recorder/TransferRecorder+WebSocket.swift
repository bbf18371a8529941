import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension TransferRecorder {
    /// Records the server's response that opens a WebSocket.
    func receive(_ head: HTTPResponse) {
        open(ReceivedMessage(head: RawHead(head), body: LogEntry.Body(), metrics: TransferMetrics()))
    }

    func record(_ message: WebSocket.Message, _ direction: LogEntry.Message.Direction) {
        switch message {
        case .text(let text): record(direction, 1, Data(text.utf8))
        case .binary(let data): record(direction, 2, data)
        }
    }

    func record(_ close: WebSocket.Close, _ direction: LogEntry.Message.Direction) {
        record(
            direction,
            8,
            Data(close.reason.isEmpty ? "\(close.code.rawValue)".utf8 : "\(close.code.rawValue) \(close.reason)".utf8)
        )
    }

    /// Records the end of a WebSocket.
    ///
    /// - Parameter close: the server's close message, if it sent one.
    func end(_ close: WebSocket.Close?, _ error: NetworkError?) {
        endConversation(error) { if let close { self.record(close, .receive) } }
    }
}
