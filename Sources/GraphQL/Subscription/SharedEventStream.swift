import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An event stream that operations share: reserved with a token, open while there are operations and some time longer.
///
/// It holds itself while it is open, and nobody else has to. One task reads, and hands results on itself: between it and
/// those who hear them nothing is kept.
final class SharedEventStream: Sendable {
    /// What a stream ended with that operations were on.
    struct Loss: Sendable {
        let error: NetworkError
        /// Whether the server opened it.
        let isOpen: Bool
        /// Whether a result came.
        let hasGiven: Bool
        /// What the operations wait by.
        let clock: any Clock<Duration>
    }

    /// Hears that a stream takes no operations any more: where it was lost, why. It may give another error for them.
    typealias OnEnd = @Sendable (SharedEventStream, Loss?) -> NetworkError?

    private struct State: Sendable {
        var operations: [String: SharedOperation] = [:]
        var lastID = 0
        /// nil before the stream is open.
        var token: String?
        var reading: Task<Void, Never>?
        var closing: Task<Void, Never>?
        /// Whether it takes no operations any more.
        var isRetired = false
        var isOver = false
        /// Whether a result came.
        var hasGiven = false

        /// - Returns: what reads, to be cancelled.
        mutating func end() -> Task<Void, Never>? {
            defer { (reading, closing) = (nil, nil) }
            (isRetired, isOver) = (true, true)
            return reading
        }
    }

    /// How long it is kept that no operation needs any more.
    private static let linger = Duration.seconds(5)

    private let state = Lock(State())
    /// Hears that it takes no operations any more.
    private let onEnd: OnEnd

    init(onEnd: @escaping OnEnd = { _, _ in nil }) {
        self.onEnd = onEnd
    }

    // MARK: - Operations

    /// Adds an operation; the first has the stream opened.
    ///
    /// - Returns: whether it takes any more.
    func join(_ operation: SharedOperation, _ attempt: SubscriptionAttempt) -> Bool {
        let joined: (token: String?, isFirst: Bool, closing: Task<Void, Never>?)? = state.withLock { state in
            if state.isRetired { return nil }
            state.lastID += 1
            let id = "\(state.lastID)"
            operation.begin(as: id)
            state.operations[id] = operation
            defer { state.closing = nil }
            return (state.token, state.lastID == 1, state.closing)
        }
        guard let joined else { return false }
        joined.closing?.cancel()
        if let token = joined.token { operation.send(with: token) }
        if joined.isFirst { begin(attempt) }
        return true
    }

    /// An operation needs it no more. After the last it is kept for a while.
    func leave(_ operation: SharedOperation, _ clock: any Clock<Duration>) {
        let isLast = state.withLock { state in
            state.operations[operation.id] = nil
            return state.operations.isEmpty && !state.isOver
        }
        guard isLast else { return }
        let closing = Task { [weak self] in
            // Thrown only where another operation came.
            do { try await clock.sleep(for: Self.linger) } catch { return }
            if !Task.isCancelled { self?.closeIfUnused() }
        }
        // Of two who left at once one closes it.
        let needless: Task<Void, Never>? = state.withLock { state in
            if !state.operations.isEmpty || state.isOver { return closing }
            defer { state.closing = closing }
            return state.closing
        }
        needless?.cancel()
    }

    /// Takes no more operations; those that it has go on.
    func retire() {
        state.withLock { $0.isRetired = true }
        _ = onEnd(self, nil)
    }

    private func closeIfUnused() {
        let (isOver, reading): (Bool, Task<Void, Never>?) = state.withLock { state in
            guard state.operations.isEmpty, !state.isOver else { return (false, nil) }
            return (true, state.end())
        }
        reading?.cancel()
        if isOver { _ = onEnd(self, nil) }
    }

    // MARK: - The stream

    private func begin(_ attempt: SubscriptionAttempt) {
        var transfer = attempt.operation.transfer
        transfer.carryNothing()
        // What others share knows nothing of the first one's surroundings.
        let (maxMessageBytes, clock) = (attempt.endpoint.maxMessageBytes, attempt.operation.clock)
        let reading = Task.detached { [transfer, transport = attempt.transport] in
            do throws(NetworkError) {
                let token = try await Self.reserve(transfer, over: transport)
                try await self.read(try await Self.open(transfer, token, over: transport), token, maxMessageBytes)
            } catch {
                self.end(with: error, clock)
            }
        }
        let isOver = state.withLock { state in
            if !state.isOver { state.reading = reading }
            return state.isOver
        }
        if isOver { reading.cancel() }
    }

    /// Asks for a token.
    private static func reserve(
        _ transfer: TransferRequest,
        over transport: any HTTPTransport
    ) async throws(NetworkError) -> String {
        var request = transfer
        request.head.method = .put
        request.body = HTTPBody()
        let answer = StreamAnswer(try await transport.perform(request), to: request.head)
        guard answer.status.kind == .successful else {
            throw await answer.refusal(over: SharedEventsCarrier.name, isOfWay: true)
        }
        let text = String(decoding: try await answer.response.body.collect(upTo: 1 << 20), as: UTF8.self)
        let words = text.split(whereSeparator: \.isWhitespace)
        guard answer.status == .created, words.count == 1, words[0].utf8.count <= 4096,
            words[0].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw answer.unsupported(over: SharedEventsCarrier.name) }
        return String(words[0])
    }

    /// Asks for the stream.
    private static func open(
        _ transfer: TransferRequest,
        _ token: String,
        over transport: any HTTPTransport
    ) async throws(NetworkError) -> StreamAnswer {
        var request = transfer
        request.head.method = .get
        request.carry(token: token)
        for field in EventSource.fields(behind: "") { request.head.headerFields[field.name] = field.value }
        request.delivery = .stream
        request.options = request.options.forEvents
        let answer = StreamAnswer(try await transport.perform(request), to: request.head)
        if answer.isOfEvents { return answer }
        guard answer.status.kind != .successful else { throw answer.unsupported(over: SharedEventsCarrier.name) }
        throw await answer.refusal(over: SharedEventsCarrier.name, isOfWay: true)
    }

    private func read(
        _ answer: StreamAnswer,
        _ token: String,
        _ maxMessageBytes: Int
    ) async throws(NetworkError) {
        let waiting = state.withLock { state in
            state.token = token
            return Array(state.operations.values)
        }
        for operation in waiting { operation.send(with: token) }
        var events = EventStream(maxEventBytes: maxMessageBytes)
        var body = answer.response.body.makeAsyncIterator()
        do {
            while let chunk = try await body.next() {
                events.feed(chunk)
                while let event = try Self.next(of: &events, maxMessageBytes) { try take(event) }
            }
        } catch {
            throw NetworkError(wrapping: error).wanting(events.retry)
        }
        throw NetworkError(.truncated, during: .body, "the server ended \(SharedEventsCarrier.name)")
            .wanting(events.retry)
    }

    private static func next(
        of events: inout EventStream,
        _ maxMessageBytes: Int
    ) throws(NetworkError) -> EventStream.Event? {
        do throws(NetworkError) {
            return try events.next()
        } catch {
            // An event fails for its size alone.
            throw .messageTooLarge(maxMessageBytes)
        }
    }

    /// Hands an event to the operation that it is of. What is of none is passed over: it may have ended meanwhile.
    private func take(_ event: EventStream.Event) throws(NetworkError) {
        guard event.type == "next" || event.type == "complete" else { return }
        let event = try SharedEvent(event)
        let operation = state.withLock { state in
            state.hasGiven = true
            return state.operations[event.id]
        }
        if let payload = event.payload { operation?.give(payload) } else { operation?.complete() }
    }

    private func end(with error: NetworkError, _ clock: any Clock<Duration>) {
        let (operations, loss): ([SharedOperation], Loss?) = state.withLock { state in
            if state.isOver { return ([], nil) }
            let operations = Array(state.operations.values)
            _ = state.end()
            let loss = Loss(error: error, isOpen: state.token != nil, hasGiven: state.hasGiven, clock: clock)
            return (operations, operations.isEmpty ? nil : loss)
        }
        // Before they ask for another.
        let error = onEnd(self, loss) ?? error
        for operation in operations { operation.lose(error) }
    }
}

/// An event of a shared stream: `{"id": …, "payload": …}`.
private struct SharedEvent {
    /// Which operation.
    let id: String
    /// The result; nil where nothing more comes.
    let payload: Data?

    /// - Throws: `NetworkError` of kind `.protocol` where it tells neither.
    init(_ event: EventStream.Event) throws(NetworkError) {
        let text = Data(event.data.utf8)
        let members: AnswerMembers
        do {
            members = try AnswerMembers(text)
        } catch {
            throw NetworkError(
                .protocol,
                during: .body,
                "an event is not valid JSON: \(error.reason) at byte \(error.offset)"
            )
        }
        guard members.isObject, let member = members["id"], let id = try JSONValue(parsing: text[member.range]).string
        else { throw NetworkError(.protocol, during: .body, "an event does not name its operation") }
        self.id = id
        if event.type == "complete" {
            payload = nil
        } else if let member = members["payload"], member.kind == .object {
            payload = Data(text[member.range])
        } else {
            throw NetworkError(.protocol, during: .body, "an event has no result")
        }
    }
}

extension TransferRequest {
    /// Names a shared event stream.
    mutating func carry(token: String) {
        head.headerFields[Self.eventStreamToken] = token
        originScopedFields.insert(Self.eventStreamToken)
    }

    /// Has no body, and no field that tells of one.
    mutating func carryNothing() {
        body = nil
        for name in [HTTPField.Name.contentType, .contentLength, .accept] { head.headerFields[name] = nil }
        delivery = .collect
        onProgress = nil
    }

    private static let eventStreamToken = HTTPField.Name("X-GraphQL-Event-Stream-Token")!
}
