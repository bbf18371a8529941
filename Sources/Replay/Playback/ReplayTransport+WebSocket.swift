import BeagleNet
public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ReplayTransport: WebSocket.Transport {
    /// Opens a recorded WebSocket.
    ///
    /// Messages are delivered in order, when all messages that the app sent before them have been sent again. If the
    /// app sends a message that differs according to the rules for bodies, the conversation ends with an error of kind
    /// `.notInRecording`.
    ///
    /// If the recording lacks the WebSocket, a base opens it, provided that it supports WebSockets. With `.live`, the
    /// base opens all of them, and nothing is compared.
    public func openWebSocket(_ request: WebSocket.Request) async throws(NetworkError) -> WebSocket {
        switch mode {
        case .offline: return try await replay(request)
        case .fallback(let base):
            do throws(NetworkError) {
                return try await replay(request)
            } catch {
                guard error.kind == .notInRecording, let base = base as? any WebSocket.Transport else { throw error }
                return try await base.openWebSocket(request)
            }
        case .refresh(let base), .live(let base, _, _):
            guard let base = base as? any WebSocket.Transport else {
                throw NetworkError(
                    .unsupported,
                    during: .build,
                    "the transport used with the recording does not support WebSockets",
                    advice: "use CurlTransport"
                )
            }
            return try await base.openWebSocket(request)
        }
    }

    private func replay(_ request: WebSocket.Request) async throws(NetworkError) -> WebSocket {
        do throws(NetworkError) {
            try request.validate()
            let openingRequest = LogEntry.Request(TransferRequest(request.head), body: nil).openingWebSocket
            let subject = MatchSubject(openingRequest, data: nil, kind: nil, isRecorded: false, redactor)
            let (index, entry) = try webSockets.take(subject)
            let delays = timing.delays(for: entry.timings, index: index)
            let timeouts = request.options.timeouts
            let limit = [timeouts.firstByte, timeouts.total].compactMap(\.self).min()
            try await clock.wait(delays.head, limit: limit, during: .firstByte)
            let replayed = try ReplayResponse(entry)
            guard replayed.head.status.code == 101 else { throw refusal(replayed) }
            let conversation = ReplayWebSocketChannel(
                RecordedWebSocket(entry, delays),
                replayed.failure,
                ReplayScript(entry, openingRequest, rules, redactor),
                request,
                clock
            )
            return WebSocket(response: replayed.head, channel: conversation)
        } catch {
            var error = error
            error.request = request.head
            throw error
        }
    }

    private func refusal(_ replayed: ReplayResponse) -> NetworkError {
        var error = WebSocketHandshake.refused(RawHead(replayed.head), Data())
        do throws(NetworkError) {
            error.data = try recording.data(of: replayed.response.body, upTo: 64 << 10)
        } catch {
            // The body of the refusal is optional.
        }
        return error
    }
}

extension ReplayClient: WebSocket.Transport {
    /// Opens a recorded WebSocket; see `ReplayTransport`.
    public func openWebSocket(_ request: WebSocket.Request) async throws(NetworkError) -> WebSocket {
        try await transport.openWebSocket(request)
    }
}

extension LogEntry.Request {
    /// The request with `ws` in place of `http`, as one that opens a WebSocket.
    var openingWebSocket: LogEntry.Request {
        guard url.lowercased().hasPrefix("http") else { return self }
        var request = self
        request.url = "ws" + url.dropFirst(4)
        return request
    }
}

extension WebSocket.Message {
    /// Creates a message from a recorded one.
    init(_ message: LogEntry.Message) {
        self = message.opcode == 2 ? .binary(message.data) : .text(String(decoding: message.data, as: UTF8.self))
    }

    /// The message as it would be recorded now.
    var logged: LogEntry.Message {
        switch self {
        case .text(let text): LogEntry.Message(.send, at: Date(), Data(text.utf8))
        case .binary(let data): LogEntry.Message(.send, at: Date(), opcode: 2, data)
        }
    }
}

extension WebSocket.Close {
    /// Creates a close message from a recorded one, such as `1001 going away`.
    init(_ message: LogEntry.Message) {
        let words = String(decoding: message.data, as: UTF8.self).split(separator: " ", maxSplits: 1)
        let code = words.first.flatMap { UInt16($0) }
        self.init(code.map { Code(rawValue: $0) } ?? .normal, reason: words.count > 1 ? String(words[1]) : "")
    }
}
