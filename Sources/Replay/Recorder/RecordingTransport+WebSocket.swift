import BeagleNet
public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RecordingTransport: WebSocket.Transport where Base: WebSocket.Transport {
    /// Opens a WebSocket and records its messages.
    public func openWebSocket(_ request: WebSocket.Request) async throws(NetworkError) -> WebSocket {
        let recorder = recorder()
        var transfer = TransferRequest(request.head)
        recorder.begin(&transfer)
        do throws(NetworkError) {
            let socket = try await base.openWebSocket(request)
            recorder.receive(socket.response)
            return WebSocket(response: socket.response, channel: RecordingChannel(socket, recorder))
        } catch {
            recorder.end(error)
            throw error
        }
    }
}

/// A channel that forwards to a WebSocket and records its messages.
private final class RecordingChannel: WebSocket.Channel {
    private let socket: Lock<WebSocket?>
    private let recorder: TransferRecorder
    private let hasClosed = Lock(false)

    init(_ socket: WebSocket, _ recorder: TransferRecorder) {
        self.socket = Lock(socket)
        self.recorder = recorder
    }

    var peerClose: WebSocket.Close? { socket.withLock { $0 }?.peerClose }

    func receive() async throws(NetworkError) -> WebSocket.Message? {
        var messages = try open().messages.makeAsyncIterator()
        do throws(NetworkError) {
            let message = try await messages.next()
            if let message { recorder.record(message, .receive) } else { recorder.end(peerClose, nil) }
            return message
        } catch {
            // A caller that cancelled may receive again.
            if !error.isCancelled { recorder.end(peerClose, error) }
            throw error
        }
    }

    func send(_ message: WebSocket.Message) async throws(NetworkError) {
        let socket = try open()
        // Recorded before sending, because the reply or the end may arrive before `send` returns.
        if socket.peerClose == nil { recorder.record(message, .send) }
        try await socket.send(message)
    }

    func close(_ close: WebSocket.Close) async throws(NetworkError) -> WebSocket.Close {
        let socket = try open()
        do throws(NetworkError) {
            if !hasClosed.withLock({ hasClosed in
                defer { hasClosed = true }
                return hasClosed
            }) {
                recorder.record(close, .send)
            }
            let peerClose = try await socket.close(close.code, reason: close.reason)
            recorder.end(peerClose, nil)
            return peerClose
        } catch {
            recorder.end(nil, error)
            throw error
        }
    }

    func abandon() {
        recorder.end(peerClose, nil)
        let socket = socket.withLock { socket in
            defer { socket = nil }
            return socket
        }
        withExtendedLifetime(socket) {}
    }

    private func open() throws(NetworkError) -> WebSocket {
        guard let socket = socket.withLock({ $0 }) else {
            throw NetworkError(.closed, during: .body, "the WebSocket was released")
        }
        return socket
    }
}
