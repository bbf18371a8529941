import BeagleNet
package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The responses of a server that stands in for the recorded ones.
package struct RecordedResponses: Sendable {
    private let recording: Recording
    private let messages: Playback
    private let webSockets: Playback
    private let timing: ReplayTiming
    private let redactor: Redactor
    private let clock: any Clock<Duration>
    /// The origins of the recorded servers.
    private let origins: Set<String>

    /// Creates the responses of a server.
    ///
    /// - Parameters: the same as those of `ReplayTransport`.
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

    /// The entries that have not been used.
    package var unused: [LogEntry] { messages.unused + webSockets.unused }

    /// Checks that all entries were used.
    ///
    /// - Throws: `NetworkError` of kind `.notInRecording` if there are unused entries.
    package func assertAllUsed() throws(NetworkError) {
        try recording.checkUse(unused: unused, redactor)
    }

    /// Returns the response to a request.
    ///
    /// - Parameters:
    ///   - body: the body of the request; `nil` if it has none.
    ///   - base: scheme, host and port of this server, which replace those of recorded servers in redirects.
    /// - Throws: `NetworkError` of kind `.notInRecording` if no entry matches.
    package func response(
        to request: LoggedRequest,
        _ body: Data?,
        at base: String
    ) throws(NetworkError) -> RecordedResponse {
        let (index, entry) = try messages.take(subject(request, body))
        let delays = timing.delays(for: entry.timings, index: index)
        let replayResponse: ReplayResponse
        do throws(NetworkError) {
            replayResponse = try ReplayResponse(entry)
        } catch {
            return RecordedResponse(wait: delays.head, failure: error)
        }
        // Checked before the head is sent, because an error cannot be reported later.
        if let damage = recording.damage(of: replayResponse.response.body) { throw damage }
        let limits: (Duration?, Int?) = (nil, nil)
        let pieces = try ReplayBody(replayResponse, of: recording, delays, clock, limits: limits).stream({ _ in }, {})
        return RecordedResponse(replayResponse, wait: delays.head, pieces) { $0.map { located($0, at: base) } }
    }

    /// Returns the conversation of a WebSocket.
    ///
    /// - Throws: `NetworkError` of kind `.notInRecording` if no entry matches.
    package func webSocket(for request: LoggedRequest) throws(NetworkError) -> RecordedWebSocket {
        let (index, entry) = try webSockets.take(subject(request, nil))
        return RecordedWebSocket(entry, timing.delays(for: entry.timings, index: index))
    }

    /// Waits, using the clock that controls the timing of responses.
    package func wait(_ time: Duration) async throws(NetworkError) {
        try await clock.wait(time, limit: nil, during: .firstByte)
    }

    private func subject(_ request: LoggedRequest, _ body: Data?) -> MatchSubject {
        MatchSubject(request, data: body, kind: nil, isRecorded: false, redactor)
    }

    /// Redirects a field's URL from a recorded server to this one.
    private func located(_ field: LoggedField, at base: String) -> LoggedField {
        guard ["location", "content-location"].contains(field.name.lowercased()),
            let url = RecordedURL(field.value), origins.contains(RequestURL(field.value).origin)
        else { return field }
        return LoggedField(field.name, base + url.target)
    }
}

/// A recorded response in the form in which it is sent over HTTP/1.1.
package struct RecordedResponse: Sendable {
    /// The time to wait before the head is sent.
    package let wait: Duration
    /// The recorded failure; `nil` if there is a response.
    package let failure: NetworkError?
    package var status = 0
    package var statusText = ""
    /// The header fields, except for those that describe the framing and coding of the body.
    package var fields: [LoggedField] = []
    package var interim: [LoggedHead] = []
    package var trailers: [LoggedField] = []
    /// The decoded body, each piece of which arrives when it is due; `nil` if the response has none.
    package var body: HTTPBody?
    /// The length of the body in bytes; `nil` if it was unknown before the body was received.
    package var length: Int64?
    /// The content coding of the recorded body.
    package var coding: String?

    /// Creates a failure.
    init(wait: Duration, failure: NetworkError) {
        self.wait = wait
        self.failure = failure
    }

    init(
        _ replayResponse: ReplayResponse,
        wait: Duration,
        _ pieces: HTTPBody,
        _ located: ([LoggedField]) -> [LoggedField]
    ) {
        self.wait = wait
        failure = nil
        let response = replayResponse.response
        (status, statusText) = (response.status, response.statusText)
        let isStreamed =
            response.fields["Transfer-Encoding"] != nil || replayResponse.isEventStream || replayResponse.failure != nil
            || !response.trailers.isEmpty
        let framing = Self.hop.union(replayResponse.hasBody ? ["content-length", "content-encoding"] : [])
        fields = located([LoggedField](replayResponse.head.headerFields)).filter { field in
            let name = field.name.lowercased()
            return !framing.contains(name) && !(status == 204 && name == "content-length")
        }
        interim = response.interim.filter { (100..<200).contains($0.status) && $0.status != 101 }
        trailers = response.trailers
        guard replayResponse.hasBody else { return }
        body = pieces
        coding = response.fields["Content-Encoding"]?.lowercased()
        // Archives omit empty bodies.
        let size = if case .omitted = response.body.content { max(response.body.size, 0) } else { response.body.size }
        length = isStreamed || size < 0 ? nil : size
    }

    /// The fields of a connection (RFC 9110, 7.6.1), and `alt-svc`, which leads to the recorded server.
    private static let hop: Set = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "trailer", "upgrade", "alt-svc",
    ]
}

/// The messages of a recorded WebSocket.
package struct RecordedWebSocket: Sendable {
    /// A message, and the time to wait before it.
    package struct Message: Sendable {
        package let wait: Duration
        package let message: LoggedMessage
    }

    /// The fields of the server's handshake response, except for those that the connection creates itself.
    package let fields: [LoggedField]
    package let messages: [Message]

    init(_ entry: LogEntry, _ delays: ReplayTiming.Delays) {
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
