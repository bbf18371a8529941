/// Follows a stream of server-sent events over as many connections as it takes.
///
/// ```swift
/// for try await event in EventSource(TransferRequest(head), over: CurlTransport()) { print(event.data) }
/// ```
/// Each iteration asks anew. A connection that is lost or that the server ends is followed by another after a wait,
/// which goes on behind the last event (`Last-Event-ID`). Status 204 ends the events for good. Any other than 200,
/// another media type than `text/event-stream`, and an event that is too large are errors, as are a request that cannot
/// be sent and a bad certificate at the first connection. Only what an idempotent method asked for is asked for again:
/// after a POST the server's end is the end. Events that nobody reads hold up the server; a cancelled task, or an
/// iterator that is let go, ends the transfer. Source:
/// https://html.spec.whatwg.org/multipage/server-sent-events.html#sse-processing-model
public struct EventSource: Sendable {
    /// Asks for the events behind the one with this id, or for all of them where it is empty.
    package typealias Connect = @Sendable (_ lastEventID: String) async throws(NetworkError) -> TransferResponse

    /// The id of the last event that the app has; empty where it has none.
    public var lastEventID = ""
    /// How long to wait before another connection, counting those that gave no event. The server's own wish (`retry`)
    /// counts up to `maxAsked`. Without a limit by default.
    public var backoff = Backoff()
    /// The most bytes that an event's data may have. 16 MiB.
    public var maxEventBytes = 16 << 20
    /// What the waits are measured with.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// Called when a connection has ended and another is to follow, with what ended it and the wait before the next.
    public var onReconnect: (@Sendable (_ cause: NetworkError, _ delay: Duration) -> Void)?

    private let connect: Connect
    private let isRepeatable: Bool

    /// Follows what this request asks for.
    ///
    /// - Parameters:
    ///   - request: `Accept`, `Cache-Control` and `Last-Event-ID` are set, a limit on the size of the body and the whole
    ///     time is lifted. `Timeouts.idle` holds: a server that is silent for longer is taken for lost, and asked again.
    ///   - transport: performs it.
    public init(_ request: TransferRequest, over transport: any HTTPTransport) {
        var request = request
        request.delivery = .stream
        request.options = request.options.forEvents
        self.init(isRepeatable: request.head.method.isIdempotent) { [request] (lastEventID) throws(NetworkError) in
            var request = request
            for field in Self.fields(behind: lastEventID) { request.head.headerFields[field.name] = field.value }
            return try await transport.perform(request)
        }
    }

    /// Follows what a function asks for.
    ///
    /// - Parameters:
    ///   - isRepeatable: whether asking again does no harm.
    ///   - connect: asks.
    package init(isRepeatable: Bool, connect: @escaping Connect) {
        self.isRepeatable = isRepeatable
        self.connect = connect
    }
}

extension EventSource: AsyncSequence {
    /// An event of the server's.
    public typealias Element = EventStream.Event

    /// Begins to ask when its first event is asked for.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// Gives the events one after another.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: EventSource
        private var stream: EventStream
        private var body: HTTPBody.AsyncIterator?
        /// The server's latest wish.
        private var retry = Duration.zero
        /// Connections in a row that gave no event.
        private var failures = 0
        private var hasConnected = false
        private var isOver = false
        private var generator = SystemRandomNumberGenerator()

        fileprivate init(_ source: EventSource) {
            self.source = source
            stream = EventStream(lastEventID: source.lastEventID, maxEventBytes: source.maxEventBytes)
        }

        /// The next event, after as many connections as it takes; nil when the server wants no more of them.
        ///
        /// - Throws: `NetworkError`: why there are no more events. After it comes nil.
        public mutating func next() async throws(NetworkError) -> EventStream.Event? {
            do throws(NetworkError) {
                while !isOver {
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
                isOver = true
                body = nil
                throw error
            }
        }

        /// Feeds the stream with what comes next, over a new connection where there is none.
        private mutating func read() async throws(NetworkError) {
            if body == nil {
                let response = try await source.response(behind: stream.lastEventID)
                hasConnected = true
                isOver = response == nil
                body = response?.body.makeAsyncIterator()
                stream = EventStream(lastEventID: stream.lastEventID, maxEventBytes: source.maxEventBytes)
            }
            do {
                if let chunk = try await body?.next() { return stream.feed(chunk) }
            } catch {
                throw NetworkError(wrapping: error)
            }
            isOver = isOver || !source.isRepeatable
            if !isOver { throw .streamEnded }
        }

        /// Waits before the next connection.
        ///
        /// - Throws: the error where there is to be none.
        private mutating func pause(after error: NetworkError) async throws(NetworkError) {
            body = nil
            retry = stream.retry ?? retry
            // A server that is only silent does not fail.
            failures = error.isTimeout && error.phase == .body ? 1 : failures + 1
            let asked = Swift.min(retry, source.backoff.maxAsked)
            guard source.mayReconnect(after: error, hasConnected: hasConnected),
                let delay = source.backoff.delay(after: failures, asked: asked, using: &generator)
            else { throw error }
            source.onReconnect?(error, delay)
            try await NetworkError.catching { [clock = source.clock] in try await clock.sleep(for: delay) }
        }
    }
}

extension EventSource {
    /// What a request for the events behind this id says.
    package static func fields(behind lastEventID: String) -> HTTPFields {
        var fields: HTTPFields = [.accept: MediaType.eventStream, .cacheControl: "no-store"]
        if !lastEventID.isEmpty { fields[.lastEventID] = lastEventID }
        return fields
    }

    /// The answer to the next request; nil where the server has no more events.
    private func response(behind lastEventID: String) async throws(NetworkError) -> TransferResponse? {
        guard !lastEventID.unicodeScalars.contains(where: { $0 < " " || $0 == "\u{7F}" }) else {
            throw NetworkError(.badRequest, during: .build, "the last event's ID contains a control character")
        }
        let response = try await connect(lastEventID)
        if response.status == .noContent { return nil }
        let mediaType = response.head.headerFields[single: .contentType].flatMap(MediaType.init)
        guard response.status == .ok, mediaType?.essence == MediaType.eventStream else {
            throw await .noEventStream(response)
        }
        return response
    }

    private func mayReconnect(after error: NetworkError, hasConnected: Bool) -> Bool {
        guard isRepeatable || !error.mayHaveReachedServer else { return false }
        // A server that is being started again may break off handshakes; a bad certificate will stay so.
        return Self.transientKinds.contains(error.kind) || (error.kind == .tls && hasConnected)
    }

    private static let transientKinds: Set<NetworkError.Kind> = [
        .dns, .connect, .timeout, .network, .truncated, .protocol, .encoding,
    ]
}

extension TransferOptions {
    /// Without limits that a stream without end cannot keep.
    package var forEvents: TransferOptions {
        var options = self
        options.timeouts.total = nil
        options.maxBodyBytes = nil
        return options
    }
}

extension MediaType {
    /// The essence of server-sent events.
    package static let eventStream = "text/event-stream"
}

extension HTTPField.Name {
    /// Names the event behind which a stream is to go on.
    package static let lastEventID = Self("Last-Event-ID")!
}

extension NetworkError {
    fileprivate static var streamEnded: NetworkError {
        NetworkError(.network, during: .body, "the server ended the event stream")
    }

    fileprivate static func noEventStream(_ response: TransferResponse) async -> NetworkError {
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
        // What the server says about it, if it is short and comes to an end; the status is the error all the same.
        do throws(NetworkError) {
            if response.status != .ok { error.data = try await response.body.collect(upTo: 64 << 10) }
        } catch {}
        return error
    }
}
