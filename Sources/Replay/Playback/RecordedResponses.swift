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
    private let timing: ReplayTransport.Timing
    private let redactor: Redactor
    private let clock: any Clock<Duration>
    /// The origins of the recorded servers.
    private let origins: Set<String>

    /// Creates the responses of a server.
    ///
    /// - Parameters: the same as those of `ReplayTransport`.
    package init(
        _ recording: Recording,
        matching: [ReplayTransport.MatchRule],
        repeats: ReplayTransport.Repeats,
        timing: ReplayTransport.Timing,
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
        to request: LogEntry.Request,
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
    package func webSocket(for request: LogEntry.Request) throws(NetworkError) -> RecordedWebSocket {
        let (index, entry) = try webSockets.take(subject(request, nil))
        return RecordedWebSocket(entry, timing.delays(for: entry.timings, index: index))
    }

    /// Waits, using the clock that controls the timing of responses.
    package func wait(_ time: Duration) async throws(NetworkError) {
        try await clock.wait(time, limit: nil, during: .firstByte)
    }

    private func subject(_ request: LogEntry.Request, _ body: Data?) -> MatchSubject {
        MatchSubject(request, data: body, kind: nil, isRecorded: false, redactor)
    }

    /// Redirects a field's URL from a recorded server to this one.
    private func located(_ field: LogEntry.Field, at base: String) -> LogEntry.Field {
        guard ["location", "content-location"].contains(field.name.lowercased()),
            let url = RecordedURL(field.value), origins.contains(RequestURL(field.value).origin)
        else { return field }
        return LogEntry.Field(field.name, base + url.target)
    }
}
