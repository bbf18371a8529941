/// A sequence of server-sent events that reconnects when the connection is lost.
///
/// ```swift
/// for try await event in EventSource(TransferRequest(head), over: CurlTransport()) { print(event.data) }
/// ```
///
/// Each iterator sends its own request. When a connection is lost or closed by the server, the source waits, reconnects
/// and resumes after the last event (`Last-Event-ID`). Status 204 ends the sequence. These are errors: any other status
/// than 200, a media type other than `text/event-stream`, an event that is too large, a request that can't be sent, and
/// a bad certificate on the first connection.
///
/// A request whose method isn't idempotent is not repeated: after a POST, the sequence ends when the server ends the
/// response. If events aren't read, backpressure stops the server from sending more. Cancelling the task or releasing
/// the iterator cancels the transfer.
///
/// Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#sse-processing-model
public struct EventSource: Sendable {
    /// Requests the events after the one with this ID, or all events if the ID is empty.
    package typealias Connect = @Sendable (_ lastEventID: String) async throws(NetworkError) -> TransferResponse

    /// The ID of the last event that the app has received, or empty to receive all events.
    public var lastEventID = ""
    /// The delays between connections.
    ///
    /// Failures are consecutive connections without an event. The delay that the server asks for (`retry`) is limited
    /// to `maxServerDelay`. By default, there is no limit to the number of connections.
    public var backoff = Backoff()
    /// The maximum size of an event's data in bytes, 16 MiB by default.
    public var maxEventBytes = 16 << 20
    /// The clock that measures the delays.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// Called before each reconnect with the error that ended the connection and the delay.
    public var onReconnect: (@Sendable (_ cause: NetworkError, _ delay: Duration) -> Void)?

    private let connect: Connect
    private let isRepeatable: Bool

    /// Creates a source of the events that a request returns.
    ///
    /// - Parameters:
    ///   - request: The request. `Accept`, `Cache-Control` and `Last-Event-ID` are set, and the limits on the body size
    ///     and the total time are removed. `TransferOptions.Timeouts.idle` applies: if the server is silent for longer,
    ///     the connection counts as lost and the source reconnects.
    ///   - transport: The transport that performs the request.
    public init(_ request: TransferRequest, over transport: any HTTPTransport) {
        var request = request
        request.delivery = .stream
        request.options = request.options.forEventStream
        self.init(isRepeatable: request.head.method.isIdempotent) { [request] (lastEventID) throws(NetworkError) in
            var request = request
            for field in Self.fields(after: lastEventID) { request.head.headerFields[field.name] = field.value }
            return try await transport.perform(request)
        }
    }

    /// Creates a source of the events that a function requests.
    ///
    /// - Parameters:
    ///   - isRepeatable: Whether it is safe to call `connect` again.
    ///   - connect: Sends the request.
    package init(isRepeatable: Bool, connect: @escaping Connect) {
        self.isRepeatable = isRepeatable
        self.connect = connect
    }
}

extension EventSource: AsyncSequence {
    /// An event from the server.
    public typealias Element = EventStream.Event

    /// Returns an iterator, which connects when its first event is requested.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// An iterator over the events of a source.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: EventSource
        private var stream: EventStream
        private var body: HTTPBody.AsyncIterator?
        /// The delay that the server last asked for.
        private var retry = Duration.zero
        /// The number of consecutive connections without an event.
        private var failures = 0
        private var hasConnected = false
        private var isFinished = false
        private var generator = SystemRandomNumberGenerator()

        fileprivate init(_ source: EventSource) {
            self.source = source
            stream = EventStream(lastEventID: source.lastEventID, maxEventBytes: source.maxEventBytes)
        }

        /// Returns the next event, reconnecting as needed, or `nil` when the server has ended the events.
        ///
        /// - Throws: `NetworkError` if there can be no more events. Further calls return `nil`.
        public mutating func next() async throws(NetworkError) -> EventStream.Event? {
            do throws(NetworkError) {
                while !isFinished {
                    if let event = try stream.next() {
                        failures = 0
                        return event
                    }
                    do throws(NetworkError) {
                        try await read()
                    } catch {
                        try await pause(after: error)
                    }
                }
                return nil
            } catch {
                isFinished = true
                body = nil
                throw error
            }
        }

        /// Feeds the next bytes to the stream, and connects first if there is no connection.
        private mutating func read() async throws(NetworkError) {
            if body == nil {
                let response = try await source.response(after: stream.lastEventID)
                hasConnected = true
                isFinished = response == nil
                body = response?.body.makeAsyncIterator()
                stream = EventStream(lastEventID: stream.lastEventID, maxEventBytes: source.maxEventBytes)
            }
            do {
                if let chunk = try await body?.next() { return stream.feed(chunk) }
            } catch {
                throw NetworkError(wrapping: error)
            }
            isFinished = isFinished || !source.isRepeatable
            if !isFinished { throw .streamEnded }
        }

        /// Waits before the next connection.
        ///
        /// - Throws: The error itself if there must be no further connection.
        private mutating func pause(after error: NetworkError) async throws(NetworkError) {
            body = nil
            retry = stream.retry ?? retry
            // A server that is merely silent hasn't failed.
            failures = error.isTimeout && error.phase == .body ? 1 : failures + 1
            let serverDelay = Swift.min(retry, source.backoff.maxServerDelay)
            guard source.mayReconnect(after: error, hasConnected: hasConnected),
                let delay = source.backoff.delay(after: failures, serverDelay: serverDelay, using: &generator)
            else { throw error }
            source.onReconnect?(error, delay)
            try await NetworkError.catching { [clock = source.clock] in try await clock.sleep(for: delay) }
        }
    }
}

extension EventSource {
    /// Returns the header fields of a request for the events after this ID.
    package static func fields(after lastEventID: String) -> HTTPFields {
        var fields: HTTPFields = [.accept: MediaType.eventStream, .cacheControl: "no-store"]
        if !lastEventID.isEmpty { fields[.lastEventID] = lastEventID }
        return fields
    }

    /// Returns the response to the next request, or `nil` if the server has no more events.
    private func response(after lastEventID: String) async throws(NetworkError) -> TransferResponse? {
        guard !lastEventID.unicodeScalars.contains(where: { $0 < " " || $0 == "\u{7F}" }) else {
            throw NetworkError(.badRequest, during: .build, "the last event's ID contains a control character")
        }
        let response = try await connect(lastEventID)
        if response.status == .noContent { return nil }
        let mediaType = response.head.headerFields[single: .contentType].flatMap(MediaType.init)
        guard response.status == .ok, mediaType?.essence == MediaType.eventStream else {
            throw await .notAnEventStream(response)
        }
        return response
    }

    private func mayReconnect(after error: NetworkError, hasConnected: Bool) -> Bool {
        guard isRepeatable || !error.mayHaveReachedServer else { return false }
        // A restarting server may abort TLS handshakes, but a bad certificate on the first connection will stay bad.
        return Self.transientKinds.contains(error.kind) || (error.kind == .tls && hasConnected)
    }

    private static let transientKinds: Set<NetworkError.Kind> = [
        .dns, .connect, .timeout, .network, .truncated, .protocol, .encoding,
    ]
}

extension TransferOptions {
    /// The options without the limits that an endless stream would exceed.
    package var forEventStream: TransferOptions {
        var options = self
        options.timeouts.total = nil
        options.maxBodyBytes = nil
        return options
    }
}

extension MediaType {
    /// The media type of server-sent events.
    package static let eventStream = "text/event-stream"
}

extension HTTPField.Name {
    /// The `Last-Event-ID` field, which names the event after which a stream resumes.
    package static let lastEventID = Self("Last-Event-ID")!
}

extension NetworkError {
    fileprivate static var streamEnded: NetworkError {
        NetworkError(.network, during: .body, "the server ended the event stream")
    }

    fileprivate static func notAnEventStream(_ response: TransferResponse) async -> NetworkError {
        let contentType = response.head.headerFields[single: .contentType]
        var error =
            response.status == .ok
            ? NetworkError(
                .decoding,
                during: .decode,
                "the response is \(Redactor().mediaType(contentType)), not an event stream"
            )
            : NetworkError(
                .status,
                during: .response,
                "the server refused the event stream with status \(response.status.code)"
            )
        error.response = response.head
        error.url = response.url
        // The error includes the server's message if it is short and complete. If it can't be read, the status is still
        // the error.
        do throws(NetworkError) {
            if response.status != .ok { error.data = try await response.body.collect(upTo: 64 << 10) }
        } catch {}
        return error
    }
}
