import BeagleNet
package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// What a server that stands for the recorded ones says.
package struct RecordedAnswers: Sendable {
    private let recording: Recording
    private let messages: Playback
    private let webSockets: Playback
    private let timing: ReplayTiming
    private let redactor: Redactor
    private let clock: any Clock<Duration>
    /// Those that the server stands for.
    private let origins: Set<String>

    /// - Parameters: as `ReplayTransport` has them.
    package init(
        _ recording: Recording,
        matching: [MatchRule],
        repeats: ReplayRepeats,
        timing: ReplayTiming,
        redactor: Redactor,
        clock: any Clock<Duration>
    ) {
        self.recording = recording
        self.timing = timing
        self.redactor = redactor
        self.clock = clock
        messages = recording.playback(of: .messages, matching, repeats, redactor)
        webSockets = recording.playback(of: .webSockets, [.path, .query], repeats, redactor)
        origins = Set(recording.entries.map { RequestURL($0.request.url).origin })
    }

    /// Entries that have answered nothing so far.
    package var unused: [LogEntry] { messages.unused + webSockets.unused }

    /// - Throws: `NetworkError` of kind `.notInRecording` where there are such entries.
    package func assertAllUsed() throws(NetworkError) {
        try recording.checkUse(unused: unused, redactor)
    }

    /// The answer to a message.
    ///
    /// - Parameters:
    ///   - body: of the message; nil where it has none.
    ///   - base: scheme, host and port of the server, where redirects to recorded servers lead.
    /// - Throws: `NetworkError` of kind `.notInRecording` where there is none.
    package func answer(
        to request: LoggedRequest,
        _ body: Data?,
        at base: String
    ) throws(NetworkError) -> RecordedAnswer {
        let (index, entry) = try messages.take(subject(request, body))
        let waits = timing.waits(for: entry.timings, index: index)
        let answer: ReplayAnswer
        do throws(NetworkError) {
            answer = try ReplayAnswer(entry)
        } catch {
            return RecordedAnswer(wait: waits.head, failure: error)
        }
        // Once its head has gone out, nobody is told any more.
        if let damage = recording.damage(of: answer.response.body) { throw damage }
        let limits: (Duration?, Int?) = (nil, nil)
        let pieces = try ReplayBody(answer, of: recording, waits, clock, limits: limits).stream({ _ in }, {})
        return RecordedAnswer(answer, wait: waits.head, pieces) { $0.map { located($0, at: base) } }
    }

    /// The conversation of a WebSocket.
    ///
    /// - Throws: `NetworkError` of kind `.notInRecording` where there is none.
    package func webSocket(for request: LoggedRequest) throws(NetworkError) -> RecordedConversation {
        let (index, entry) = try webSockets.take(subject(request, nil))
        return RecordedConversation(entry, timing.waits(for: entry.timings, index: index))
    }

    /// Waits by the clock that answers go by.
    package func wait(_ time: Duration) async throws(NetworkError) {
        try await clock.pass(time, limit: nil, during: .firstByte)
    }

    private func subject(_ request: LoggedRequest, _ body: Data?) -> MatchSubject {
        MatchSubject(request, data: body, kind: nil, isRecorded: false, redactor)
    }

    /// A field whose URL leads to a recorded server leads to this one.
    private func located(_ field: LoggedField, at base: String) -> LoggedField {
        guard ["location", "content-location"].contains(field.name.lowercased()),
            let url = RecordedURL(field.value), origins.contains(RequestURL(field.value).origin)
        else { return field }
        return LoggedField(field.name, base + url.target)
    }
}

/// An answer as it goes over HTTP/1.1.
package struct RecordedAnswer: Sendable {
    /// Before the head.
    package let wait: Duration
    /// Why nothing was answered; nil where something was.
    package let failure: NetworkError?
    package var status = 0
    package var statusText = ""
    /// But for those that say how the body is framed and coded.
    package var fields: [LoggedField] = []
    package var interim: [LoggedHead] = []
    package var trailers: [LoggedField] = []
    /// Its bytes, decoded, each piece when it is due; nil where the answer has no body.
    package var body: HTTPBody?
    /// How many they are; nil where that was not known before they came.
    package var length: Int64?
    /// How the body was coded.
    package var coding: String?

    /// No answer.
    init(wait: Duration, failure: NetworkError) {
        self.wait = wait
        self.failure = failure
    }

    init(
        _ answer: ReplayAnswer,
        wait: Duration,
        _ pieces: HTTPBody,
        _ located: ([LoggedField]) -> [LoggedField]
    ) {
        self.wait = wait
        failure = nil
        let response = answer.response
        (status, statusText) = (response.status, response.statusText)
        let isStreamed =
            response.fields["Transfer-Encoding"] != nil || answer.isEventStream || answer.failure != nil
            || !response.trailers.isEmpty
        let framing = Self.hop.union(answer.hasBody ? ["content-length", "content-encoding"] : [])
        fields = located([LoggedField](answer.head.headerFields)).filter { field in
            let name = field.name.lowercased()
            return !framing.contains(name) && !(status == 204 && name == "content-length")
        }
        interim = response.interim.filter { (100..<200).contains($0.status) && $0.status != 101 }
        trailers = response.trailers
        guard answer.hasBody else { return }
        body = pieces
        coding = response.fields["Content-Encoding"]?.lowercased()
        // Archives leave out what was empty.
        let size = if case .omitted = response.body.content { max(response.body.size, 0) } else { response.body.size }
        length = isStreamed || size < 0 ? nil : size
    }

    /// Fields of a connection (RFC 9110, 7.6.1), and one that leads to the recorded server.
    private static let hop: Set = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "trailer", "upgrade", "alt-svc",
    ]
}

/// What was said over a WebSocket.
package struct RecordedConversation: Sendable {
    /// A message, and the wait before it.
    package struct Message: Sendable {
        package let wait: Duration
        package let message: LoggedMessage
    }

    /// Of the server's agreement, but for those that this connection makes itself.
    package let fields: [LoggedField]
    package let messages: [Message]

    init(_ entry: LogEntry, _ waits: ReplayTiming.Waits) {
        let own: Set = [
            "connection", "upgrade", "sec-websocket-accept", "sec-websocket-extensions", "content-length",
            "transfer-encoding",
        ]
        fields = (entry.response?.fields ?? []).filter { !own.contains($0.name.lowercased()) }
        messages = zip(entry.messages, entry.messages.prefix(1) + entry.messages).map { message, last in
            let gap = min(max(message.time.timeIntervalSince(last.time), 0) * waits.scale, 1e9)
            return Message(wait: waits.cut(.seconds(gap)), message: message)
        }
    }
}
