import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Plays a recorded conversation: what the server said comes when all that was sent before it has been sent again. What is
/// sent otherwise is a miss, and the end.
final class ReplayConversation: WebSocketChannel {
    /// A message of the server's.
    private struct Coming {
        let wait: Duration
        let message: WebSocketMessage
        /// How many were sent before it.
        let sent: Int
    }

    /// How the server ended it.
    private struct Close {
        var wait = Duration.zero
        var result: Result<WebSocketClose, NetworkError>
        /// Whether it comes when the app has closed, and not before.
        var isAnswer = false
    }

    private struct State {
        var received = 0
        /// Messages that somebody sends or has sent.
        var begun = 0
        /// Those that are what was recorded.
        var sent = 0
        var miss: NetworkError?
        /// Whether the app has closed.
        var isClosed = false
        var end: Result<WebSocketClose, NetworkError>?
        /// How often any of this changed but for `received` and `begun`.
        var changes = 0
        var waiting: [UnsafeContinuation<Void, Never>] = []
    }

    private let request: WebSocketRequest
    private let script: ReplayScript
    private let clock: any Clock<Duration>
    private let coming: [Coming]
    private let close: Close
    private let state = Lock(State())

    /// - Parameter failure: why the recorded one did not end well; nil where it did.
    init(
        _ conversation: RecordedConversation,
        _ failure: NetworkError?,
        _ script: ReplayScript,
        _ request: WebSocketRequest,
        _ clock: any Clock<Duration>
    ) {
        self.request = request
        self.script = script
        self.clock = clock
        var (coming, sent): ([Coming], Int) = ([], 0)
        var close = Close(result: failure.map { .failure($0) } ?? .success(WebSocketClose(.normal)))
        for next in conversation.messages {
            switch (next.message.direction, next.message.opcode) {
            case (.send, 8): close.isAnswer = true
            case (.send, _): sent += 1
            case (.receive, 8): (close.wait, close.result) = (next.wait, .success(WebSocketClose(next.message)))
            case (.receive, _):
                coming.append(Coming(wait: next.wait, message: WebSocketMessage(next.message), sent: sent))
            }
        }
        self.coming = coming
        self.close = close
    }

    var peerClose: WebSocketClose? {
        state.withLock { state in
            if case .success(let close)? = state.end { return close }
            return nil
        }
    }

    func receive() async throws(NetworkError) -> WebSocketMessage? {
        while true {
            switch next() {
            case .message(let coming):
                try await pass(coming.wait)
                if let error = request.refusal(of: coming.message) { end(.failure(error)) }
                if state.withLock({ $0.end == nil }) { return coming.message }
            case .close:
                try await pass(close.wait)
                end(close.result)
            case .end(let end, let isClosed):
                let close = try end.get()
                if isClosed || close.code.isNormal { return nil }
                throw close.code.error(of: request.head)
            case .nothing(let changes): await wait(since: changes)
            }
        }
    }

    private enum Step {
        case message(Coming), close, end(Result<WebSocketClose, NetworkError>, isClosed: Bool), nothing(changes: Int)
    }

    private func next() -> Step {
        state.withLock { state in
            if let end = state.end { return .end(end, isClosed: state.isClosed) }
            if state.received < coming.count, coming[state.received].sent <= state.sent {
                defer { state.received += 1 }
                return .message(coming[state.received])
            }
            if let miss = state.miss {
                state.end = .failure(miss)
                return .end(.failure(miss), isClosed: state.isClosed)
            }
            let isOver = state.received == coming.count && state.sent == script.count && !close.isAnswer
            return isOver ? .close : .nothing(changes: state.changes)
        }
    }

    func send(_ message: WebSocketMessage) async throws(NetworkError) {
        if Task.isCancelled { abandon() }
        let number = try state.withLock { state throws(NetworkError) in
            try checkOpen(state)
            defer { state.begun += 1 }
            return state.begun
        }
        do throws(NetworkError) {
            try script.check(message, number)
            tell { $0.sent += 1 }
        } catch {
            var error = error
            error.request = request.head
            tell { [error] in $0.miss = $0.miss ?? error }
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

    func close(_ own: WebSocketClose) async throws(NetworkError) -> WebSocketClose {
        let answer = close.isAnswer ? close.result : .success(own)
        tell { state in
            state.isClosed = true
            state.end = state.end ?? state.miss.map { .failure($0) } ?? answer
        }
        return try (state.withLock { $0.end } ?? answer).get()
    }

    func abandon() {
        end(.failure(NetworkError(.cancelled, during: .body, "the WebSocket was released")))
    }

    // MARK: - Waiting

    /// The first end counts.
    private func end(_ end: Result<WebSocketClose, NetworkError>) {
        tell { $0.end = $0.end ?? end }
    }

    /// Changes something that others may wait for.
    private func tell(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            state.changes += 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until something changes, unless it has.
    private func wait(since changes: Int) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isNew = state.withLock { state in
                    guard state.changes == changes else { return true }
                    state.waiting.append(continuation)
                    return false
                }
                if isNew { continuation.resume() }
            }
        } onCancel: {
            abandon()
        }
    }

    private func pass(_ wait: Duration) async throws(NetworkError) {
        do throws(NetworkError) {
            try await clock.pass(wait, limit: nil, during: .body)
        } catch {
            abandon()
            throw error
        }
    }
}

/// What was sent in a recorded conversation, and what counts of it.
struct ReplayScript: Sendable {
    private let entry: LogEntry
    private let asked: LoggedRequest
    private let messages: [LoggedMessage]
    private let rules: [MatchRule]
    private let redactor: Redactor

    /// - Parameter asked: what opened the conversation now.
    init(_ entry: LogEntry, _ asked: LoggedRequest, _ rules: [MatchRule], _ redactor: Redactor) {
        self.entry = entry
        self.asked = asked
        self.rules = rules
        self.redactor = redactor
        messages = entry.messages.filter { $0.direction == .send && $0.opcode != 8 }
    }

    var count: Int { messages.count }

    /// - Parameter number: how many were sent before.
    /// - Throws: `NetworkError` of kind `.notInRecording` where the message is not what was recorded.
    func check(_ message: WebSocketMessage, _ number: Int) throws(NetworkError) {
        let subject = subject(asked, message.logged, isRecorded: false)
        guard number < messages.count else {
            throw ReplayMiss(ofMessage: number + 1, to: subject, nearest: []).error
        }
        let recorded = self.subject(entry.request.openingWebSocket, messages[number], isRecorded: true)
        let differences = parts(of: recorded, messages[number]).differences(from: parts(of: subject, message.logged))
        guard !differences.isEmpty else { return }
        let near = ReplayMiss.Near(entry.id, recorded, differences)
        throw ReplayMiss(ofMessage: number + 1, to: subject, nearest: [near]).error
    }

    /// The message as the body of what opened its conversation, of which rules say what counts.
    private func subject(_ opening: LoggedRequest, _ message: LoggedMessage, isRecorded: Bool) -> MatchSubject {
        var request = opening
        // Of text a report shows more than its length.
        if message.opcode == 1 { request.fields = [LoggedField("Content-Type", "text/plain")] + request.fields }
        request.body = LoggedBody(.data(message.data), mediaType: "")
        return MatchSubject(request, data: message.data, kind: nil, isRecorded: isRecorded, redactor)
    }

    private func parts(of subject: MatchSubject, _ message: LoggedMessage) -> [RequestPart] {
        let isHidden = message.data == Data(Redactor.placeholder.utf8)
        let own = isHidden ? [RequestPart(.body, "", .any)] : rules.parts(of: subject)
        return own.filter { $0.place.section == .body } + [RequestPart(.custom, "opcode", "\(message.opcode)")]
    }
}

extension WebSocketRequest {
    /// Why a message is not taken; nil where it is.
    fileprivate func refusal(of message: WebSocketMessage) -> NetworkError? {
        guard message.byteCount > maxMessageBytes else { return nil }
        return NetworkError(
            .tooLarge,
            during: .body,
            "a message has \(message.byteCount) bytes, but only \(maxMessageBytes) are allowed",
            advice: "increase WebSocketRequest.maxMessageBytes"
        )
    }
}
