import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An event stream that operations share: reserved with a token, open while there are operations and some time longer.
///
/// It holds itself while it is open, and nobody else has to.
final class SharedEventStream: Sendable {
    /// What an operation hears.
    enum Message: Sendable {
        /// The stream is open: the server can be asked, with this token.
        case ready(String)
        /// What the server said to the operation.
        case answered(Result<TransferResponse, NetworkError>)
        /// A result.
        case payload(Data)
        /// Nothing more comes.
        case complete
        /// There is no stream, or none any more.
        case lost(NetworkError)
    }

    /// One operation's part in it.
    struct Membership: Sendable {
        /// Which operation, for the server.
        let id: String
        let messages: AsyncStream<Message>
        let continuation: AsyncStream<Message>.Continuation
    }

    private struct State: Sendable {
        var operations: [String: AsyncStream<Message>.Continuation] = [:]
        var lastID = 0
        /// nil before the stream is open.
        var token: String?
        var reading: Task<Void, Never>?
        var closing: Task<Void, Never>?
        /// Whether it takes no operations any more.
        var isRetired = false
        var isOver = false

        /// - Returns: what reads, to be cancelled.
        mutating func end() -> Task<Void, Never>? {
            defer { (reading, closing) = (nil, nil) }
            (isRetired, isOver) = (true, true)
            return reading
        }
    }

    /// How long it is kept that no operation needs any more.
    private static let linger = Duration.seconds(5)
    /// The most bytes that an event may have.
    private static let maxEventBytes = 64 << 20

    private let state = Lock(State())
    /// Hears that it takes no operations any more.
    private let onEnd: @Sendable (SharedEventStream) -> Void

    init(onEnd: @escaping @Sendable (SharedEventStream) -> Void = { _ in }) {
        self.onEnd = onEnd
    }

    // MARK: - Operations

    /// Adds an operation; the first has the stream opened.
    ///
    /// - Returns: nil where it takes no more.
    func join(_ attempt: SubscriptionAttempt) -> Membership? {
        let (messages, continuation) = AsyncStream.makeStream(of: Message.self)
        let joined: (id: String, token: String?, isFirst: Bool, closing: Task<Void, Never>?)? = state.withLock {
            state in
            if state.isRetired { return nil }
            state.lastID += 1
            let id = "\(state.lastID)"
            state.operations[id] = continuation
            defer { state.closing = nil }
            return (id, state.token, state.lastID == 1, state.closing)
        }
        guard let joined else { return nil }
        joined.closing?.cancel()
        if let token = joined.token { continuation.yield(.ready(token)) }
        if joined.isFirst { begin(attempt) }
        return Membership(id: joined.id, messages: messages, continuation: continuation)
    }

    /// An operation needs it no more. After the last it is kept for a while.
    func leave(_ id: String, _ clock: any Clock<Duration>) {
        let isLast = state.withLock { state in
            state.operations[id] = nil
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
        onEnd(self)
    }

    private func closeIfUnused() {
        let (isOver, reading): (Bool, Task<Void, Never>?) = state.withLock { state in
            guard state.operations.isEmpty, !state.isOver else { return (false, nil) }
            return (true, state.end())
        }
        reading?.cancel()
        if isOver { onEnd(self) }
    }

    // MARK: - The stream

    private func begin(_ attempt: SubscriptionAttempt) {
        var transfer = attempt.operation.transfer
        transfer.carryNothing()
        // What others share knows nothing of the first one's surroundings.
        let reading = Task.detached { [transfer, transport = attempt.transport] in
            do throws(NetworkError) {
                let token = try await Self.reserve(transfer, over: transport)
                try await self.read(try await Self.open(transfer, token, over: transport), token)
            } catch {
                self.end(with: error)
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

    private func read(_ answer: StreamAnswer, _ token: String) async throws(NetworkError) {
        let waiting = state.withLock { state in
            state.token = token
            return Array(state.operations.values)
        }
        for operation in waiting { operation.yield(.ready(token)) }
        var events = EventStream(maxEventBytes: Self.maxEventBytes)
        var body = answer.response.body.makeAsyncIterator()
        do {
            while let chunk = try await body.next() {
                events.feed(chunk)
                while let event = try events.next() { try take(event) }
            }
        } catch {
            throw NetworkError(wrapping: error).wanting(events.retry)
        }
        throw NetworkError(.truncated, during: .body, "the server ended \(SharedEventsCarrier.name)")
            .wanting(events.retry)
    }

    /// Hands an event to the operation that it is of. What is of none is passed over: it may have ended meanwhile.
    private func take(_ event: EventStream.Event) throws(NetworkError) {
        guard event.type == "next" || event.type == "complete" else { return }
        let event = try SharedEvent(event)
        let operation = state.withLock { $0.operations[event.id] }
        operation?.yield(event.payload.map { .payload($0) } ?? .complete)
    }

    private func end(with error: NetworkError) {
        let operations: [AsyncStream<Message>.Continuation] = state.withLock { state in
            if state.isOver { return [] }
            let operations = Array(state.operations.values)
            _ = state.end()
            return operations
        }
        // Before they ask for another.
        onEnd(self)
        for operation in operations { operation.yield(.lost(error)) }
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
            throw NetworkError(.protocol, during: .body, "an event is no JSON: \(error.reason) at byte \(error.offset)")
        }
        guard members.isObject, let member = members["id"], let id = try JSONValue(parsing: text[member.range]).string
        else { throw NetworkError(.protocol, during: .body, "an event names no operation") }
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
