public import BeagleNet
public import BeagleNetReplay
import BeagleNetHTTP

/// A server on 127.0.0.1 that answers as recorded ones did: any client can ask it, of whatever make.
///
/// ```swift
/// let server = try RecordedServer(try Recording(contentsOf: "home.har"))
/// let screen = try await client.fetch("\(server.url)/home", as: Screen.self)
/// try server.assertAllUsed()
/// ```
/// It speaks HTTP/1.1, and answers with the recorded status, fields, interim responses, body and trailers. A body is
/// compressed as it was where the client takes that, and comes in chunks where it did; events of a stream come one by one.
/// Redirects to recorded servers lead to this one. What failed fails: by silence where it was a timeout, else by the end of
/// the connection. What the recording does not have is answered with 501 and a report of what comes nearest.
///
/// A WebSocket says what was recorded in its order: where the client spoke it waits for a message, whatever that says.
public final class RecordedServer: Sendable {
    private let answers: RecordedAnswers
    private let server: LoopbackServer

    /// Listens and answers until `stop()`.
    ///
    /// - Parameters:
    ///   - recording: what was recorded; `Recording(contentsOf:)` reads a log or an archive.
    ///   - matching: what two messages must have in common to be taken for the same; of WebSockets path and query count.
    ///   - repeats: what is answered when a message is asked more often than it was recorded.
    ///   - timing: how long recorded answers take; no time by default.
    ///   - redactor: what takes secrets out of messages before they are compared: the one with which they were recorded.
    ///   - clock: what answers wait by.
    /// - Throws: `NetworkError` of kind `.connect` when the system gives no port.
    public init(
        _ recording: Recording,
        matching: [MatchRule] = [.method, .path, .query, .body],
        repeats: ReplayRepeats = .sequenceThenLast,
        timing: ReplayTiming = .none,
        redactor: Redactor = Redactor(),
        clock: any Clock<Duration> = ContinuousClock()
    ) throws(NetworkError) {
        let answers = RecordedAnswers(
            recording,
            matching: matching,
            repeats: repeats,
            timing: timing,
            redactor: redactor,
            clock: clock
        )
        self.answers = answers
        server = try LoopbackServer { request in
            .played { connection in
                request.isWebSocket
                    ? connection.converse(answers, about: request) : connection.play(answers, to: request)
            }
        }
    }

    /// Closes every connection and returns when all threads have ended. A second call does nothing.
    public func stop() {
        server.stop()
    }

    /// `http://127.0.0.1:PORT`, without a path.
    public var url: String { server.url }

    /// The requests read so far, oldest first; the last 1,000 of them.
    public var requests: [LoopbackServer.Request] { server.requests }

    /// Entries that have answered nothing so far.
    public var unused: [LogEntry] { answers.unused }

    /// Checks that every entry has answered something.
    ///
    /// - Throws: `NetworkError` of kind `.notInRecording` that names the first that have not.
    public func assertAllUsed() throws(NetworkError) {
        try answers.assertAllUsed()
    }
}
