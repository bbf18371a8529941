import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A channel that replays a recorded WebSocket.
///
/// Messages of the server are delivered when all messages that the app sent before them have been sent again. A message
/// that differs is a miss and ends the conversation.
final class ReplayWebSocketChannel: WebSocket.Channel {
    /// A message from the server.
    private struct IncomingMessage {
        let wait: Duration
        let message: WebSocket.Message
        /// The number of messages that the app sent before it.
        let sent: Int
    }

    /// The end of the conversation by the server.
    private struct Close {
        var wait = Duration.zero
        var result: Result<WebSocket.Close, NetworkError>
        /// Whether the server closes only after the app has closed.
        var followsClient = false
    }

    private struct State {
        var received = 0
        /// The number of messages that are being sent or were sent.
        var begun = 0
        /// The number of sent messages that matched the recording.
        var sent = 0
        var miss: NetworkError?
        /// Whether the app has closed the WebSocket.
        var isClosed = false
        var end: Result<WebSocket.Close, NetworkError>?
        /// The next change of any property except `received` and `begun`.
        var change = Promise<Void>()
    }

    private let request: WebSocket.Request
    private let script: ReplayScript
    private let clock: any Clock<Duration>
    private let incoming: [IncomingMessage]
    private let close: Close
    private let state = Lock(State())

    /// Creates a channel.
    ///
    /// - Parameter failure: the error that ended the recorded conversation; `nil` if it was closed normally.
    init(
        _ conversation: RecordedWebSocket,
        _ failure: NetworkError?,
        _ script: ReplayScript,
        _ request: WebSocket.Request,
        _ clock: any Clock<Duration>
    ) {
        self.request = request
        self.script = script
        self.clock = clock
        var (incoming, sent): ([IncomingMessage], Int) = ([], 0)
        var close = Close(result: failure.map { .failure($0) } ?? .success(WebSocket.Close(.normal)))
        for next in conversation.messages {
            switch (next.message.direction, next.message.opcode) {
            case (.send, 8): close.followsClient = true
            case (.send, _): sent += 1
            case (.receive, 8): (close.wait, close.result) = (next.wait, .success(WebSocket.Close(next.message)))
            case (.receive, _):
                incoming.append(IncomingMessage(wait: next.wait, message: WebSocket.Message(next.message), sent: sent))
            }
        }
        self.incoming = incoming
        self.close = close
    }

    var peerClose: WebSocket.Close? {
        state.withLock { state in
            if case .success(let close)? = state.end { return close }
            return nil
        }
    }

    func receive() async throws(NetworkError) -> WebSocket.Message? {
        while true {
            switch next() {
            case .message(let incoming):
                try await wait(incoming.wait)
                if let error = request.refusal(of: incoming.message) { end(.failure(error)) }
                if state.withLock({ $0.end == nil }) { return incoming.message }
            case .close:
                try await wait(close.wait)
                end(close.result)
            case .end(let end, let isClosed):
                let close = try end.get()
                if isClosed || close.code.isNormal { return nil }
                throw close.code.error(of: request.head)
            case .nothing(let change): await wait(for: change)
            }
        }
    }

    private enum Step {
        case message(IncomingMessage), close
        case end(Result<WebSocket.Close, NetworkError>, isClosed: Bool)
        case nothing(Promise<Void>)
    }

    private func next() -> Step {
        state.withLock { state in
            if let end = state.end { return .end(end, isClosed: state.isClosed) }
            if state.received < incoming.count, incoming[state.received].sent <= state.sent {
                defer { state.received += 1 }
                return .message(incoming[state.received])
            }
            if let miss = state.miss {
                state.end = .failure(miss)
                return .end(.failure(miss), isClosed: state.isClosed)
            }
            let isFinished = state.received == incoming.count && state.sent == script.count && !close.followsClient
            return isFinished ? .close : .nothing(state.change)
        }
    }

    func send(_ message: WebSocket.Message) async throws(NetworkError) {
        if Task.isCancelled { abandon() }
        let number = try state.withLock { state throws(NetworkError) in
            try checkOpen(state)
            defer { state.begun += 1 }
            return state.begun
        }
        do throws(NetworkError) {
            try script.check(message, number)
            update { $0.sent += 1 }
        } catch {
            var error = error
            error.request = request.head
            update { [error] in $0.miss = $0.miss ?? error }
            throw error
        }
    }

    private func checkOpen(_ state: State) throws(NetworkError) {
        if let miss = state.miss { throw miss }
        switch state.end {
        case .failure(let error)?: throw error
        case .success where state.isClosed:
            throw NetworkError(.closed, during: .build, "the WebSocket was closed by close()")
        case .success(let close)?: throw close.code.error(of: request.head)
        case nil: break
        }
    }

    func close(_ own: WebSocket.Close) async throws(NetworkError) -> WebSocket.Close {
        let result = close.followsClient ? close.result : .success(own)
        update { state in
            state.isClosed = true
            state.end = state.end ?? state.miss.map { .failure($0) } ?? result
        }
        return try (state.withLock { $0.end } ?? result).get()
    }

    func abandon() {
        end(.failure(NetworkError(.cancelled, during: .body, "the WebSocket was released")))
    }

    // MARK: - Waiting

    /// Ends the conversation, unless it has already ended.
    private func end(_ end: Result<WebSocket.Close, NetworkError>) {
        update { $0.end = $0.end ?? end }
    }

    /// Changes the state and resumes all waiting tasks.
    private func update(_ change: (inout State) -> Void) {
        let changed = state.withLock { state in
            change(&state)
            defer { state.change = Promise() }
            return state.change
        }
        changed.complete()
    }

    private func wait(for change: Promise<Void>) async {
        await withTaskCancellationHandler {
            await change.value
        } onCancel: {
            abandon()
        }
    }

    private func wait(_ wait: Duration) async throws(NetworkError) {
        do throws(NetworkError) {
            try await clock.wait(wait, limit: nil, during: .body)
        } catch {
            abandon()
            throw error
        }
    }
}

/// The messages that the app sent in a recorded conversation, with the rules for matching them.
struct ReplayScript: Sendable {
    private let entry: LogEntry
    private let openingRequest: LogEntry.Request
    private let messages: [LogEntry.Message]
    private let rules: [ReplayTransport.MatchRule]
    private let redactor: Redactor

    /// Creates a script.
    ///
    /// - Parameter openingRequest: the request that opens the conversation now.
    init(
        _ entry: LogEntry,
        _ openingRequest: LogEntry.Request,
        _ rules: [ReplayTransport.MatchRule],
        _ redactor: Redactor
    ) {
        self.entry = entry
        self.openingRequest = openingRequest
        self.rules = rules
        self.redactor = redactor
        messages = entry.messages.filter { $0.direction == .send && $0.opcode != 8 }
    }

    var count: Int { messages.count }

    /// Checks a message.
    ///
    /// - Parameter number: the number of messages sent before.
    /// - Throws: `NetworkError` of kind `.notInRecording` if the message differs from the recorded one.
    func check(_ message: WebSocket.Message, _ number: Int) throws(NetworkError) {
        let subject = subject(openingRequest, message.logged, isRecorded: false)
        guard number < messages.count else {
            throw ReplayTransport.Miss(ofMessage: number + 1, to: subject, nearest: []).error
        }
        let recorded = self.subject(entry.request.openingWebSocket, messages[number], isRecorded: true)
        let differences = parts(of: recorded, messages[number]).differences(from: parts(of: subject, message.logged))
        guard !differences.isEmpty else { return }
        let near = ReplayTransport.Miss.Near(entry.id, recorded, differences)
        throw ReplayTransport.Miss(ofMessage: number + 1, to: subject, nearest: [near]).error
    }

    /// Returns the message as the body of the request that opened the conversation, so that rules apply to it.
    private func subject(_ opening: LogEntry.Request, _ message: LogEntry.Message, isRecorded: Bool) -> MatchSubject {
        var request = opening
        // Reports show only the length of a body that isn't text.
        if message.opcode == 1 { request.fields = [LogEntry.Field("Content-Type", "text/plain")] + request.fields }
        request.body = LogEntry.Body(.data(message.data), mediaType: "")
        return MatchSubject(request, data: message.data, kind: nil, isRecorded: isRecorded, redactor)
    }

    private func parts(of subject: MatchSubject, _ message: LogEntry.Message) -> [RequestPart] {
        let isHidden = message.data == Data(Redactor.placeholder.utf8)
        let own = isHidden ? [RequestPart(.body, "", .any)] : rules.parts(of: subject)
        return own.filter { $0.place.section == .body } + [RequestPart(.custom, "opcode", "\(message.opcode)")]
    }
}

extension WebSocket.Request {
    /// Returns the error for a message that is too large; `nil` if it is accepted.
    fileprivate func refusal(of message: WebSocket.Message) -> NetworkError? {
        guard message.byteCount > maxMessageBytes else { return nil }
        return NetworkError(
            .tooLarge,
            during: .body,
            "a message has \(message.byteCount) bytes, but only \(maxMessageBytes) are allowed",
            advice: "increase WebSocket.Request.maxMessageBytes"
        )
    }
}
