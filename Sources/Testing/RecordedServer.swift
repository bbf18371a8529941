public import BeagleNet
public import BeagleNetReplay
import BeagleNetHTTP

/// A server on 127.0.0.1 that replays recorded responses to any HTTP client.
///
/// ```swift
/// let server = try RecordedServer(try Recording(contentsOf: "home.har"))
/// let screen = try await client.fetch("\(server.url)/home", as: Screen.self)
/// try server.assertAllUsed()
/// ```
/// It supports HTTP/1.1, and replays the recorded status, fields, interim responses, body and trailers. A body is
/// compressed as recorded if the client accepts that, and chunked as recorded; the events of a stream are sent one by
/// one. Redirects to recorded servers point to this server. A recorded failure is replayed: a timeout as silence, any
/// other failure by closing the connection. A request that isn't in the recording gets a 501 response that reports the
/// closest match.
///
/// A WebSocket sends the recorded messages in order. Where the client sent a message, it waits for one, whatever its
/// content.
public final class RecordedServer: Sendable {
    private let answers: RecordedResponses
    private let server: LoopbackServer

    /// Creates a server that listens until `stop()`.
    ///
    /// - Parameters:
    ///   - recording: The recording; `Recording(contentsOf:)` reads a log or an archive.
    ///   - matching: The rules that decide whether two requests match. For WebSockets, only path and query count.
    ///   - repeats: The response to a request that is sent more often than it was recorded.
    ///   - timing: The delays of recorded responses; none by default.
    ///   - redactor: The redactor of requests before they are compared, which must be the one that was used for
    ///     recording.
    ///   - clock: The clock for these delays.
    /// - Throws: `NetworkError` of kind `.connect` if no port is available.
    public init(
        _ recording: Recording,
        matching: [ReplayTransport.MatchRule] = [.method, .path, .query, .body],
        repeats: ReplayTransport.Repeats = .sequenceThenLast,
        timing: ReplayTransport.Timing = .none,
        redactor: Redactor = Redactor(),
        clock: any Clock<Duration> = ContinuousClock()
    ) throws(NetworkError) {
        let answers = RecordedResponses(
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
                    ? connection.replayWebSocket(answers, about: request) : connection.play(answers, to: request)
            }
        }
    }

    /// Closes all connections and returns when all threads have ended; further calls do nothing.
    public func stop() {
        server.stop()
    }

    /// The URL of the server, `http://127.0.0.1:PORT`, without a path.
    public var url: String { server.url }

    /// The last 1,000 requests received, oldest first.
    public var requests: [LoopbackServer.Request] { server.requests }

    /// The entries that haven't been used yet.
    public var unused: [LogEntry] { answers.unused }

    /// Checks that all entries were used.
    ///
    /// - Throws: `NetworkError` of kind `.notInRecording` that names the first unused entries.
    public func assertAllUsed() throws(NetworkError) {
        try answers.assertAllUsed()
    }
}
