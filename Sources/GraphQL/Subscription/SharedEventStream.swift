import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An event stream shared by operations. It is reserved with a token, and closes some time after its last operation has
/// left.
///
/// The stream retains itself while it is open. One task reads it and delivers the results directly, without a buffer.
final class SharedEventStream: Sendable {
    /// The loss of a stream that had operations.
    struct Loss: Sendable {
        let error: NetworkError
        /// Whether the server had opened the stream.
        let isOpen: Bool
        /// Whether a result was received.
        let hasDeliveredResults: Bool
        /// The clock of the operations' delays.
        let clock: any Clock<Duration>
    }

    /// A closure that is called when the stream accepts no more operations, with the loss if it was lost. It may return
    /// a different error for the operations.
    typealias OnEnd = @Sendable (SharedEventStream, Loss?) -> NetworkError?

    private struct State: Sendable {
        var operations: [String: SharedOperation] = [:]
        var lastID = 0
        /// The token of the stream, or `nil` before the stream is open.
        var token: String?
        var readingTask: Task<Void, Never>?
        var closingTask: Task<Void, Never>?
        /// Whether the stream accepts no more operations.
        var isRetired = false
        var isFinished = false
        /// Whether a result was received.
        var hasDeliveredResults = false

        /// - Returns: The reading task, which must be cancelled.
        mutating func end() -> Task<Void, Never>? {
            defer { (readingTask, closingTask) = (nil, nil) }
            (isRetired, isFinished) = (true, true)
            return readingTask
        }
    }

    /// The time for which an unused stream is kept open.
    private static let lingerDuration = Duration.seconds(5)

    private let state = Lock(State())
    /// Called when the stream accepts no more operations.
    private let onEnd: OnEnd

    init(onEnd: @escaping OnEnd = { _, _ in nil }) {
        self.onEnd = onEnd
    }

    // MARK: - Operations

    /// Adds an operation. The first one opens the stream.
    ///
    /// - Returns: Whether the operation was added; `false` if the stream accepts no more operations.
    func join(_ operation: SharedOperation, _ attempt: SubscriptionAttempt) -> Bool {
        let joined: (token: String?, isFirst: Bool, closingTask: Task<Void, Never>?)? = state.withLock { state in
            if state.isRetired { return nil }
            state.lastID += 1
            let id = "\(state.lastID)"
            operation.begin(as: id)
            state.operations[id] = operation
            defer { state.closingTask = nil }
            return (state.token, state.lastID == 1, state.closingTask)
        }
        guard let joined else { return false }
        joined.closingTask?.cancel()
        if let token = joined.token { operation.send(with: token) }
        if joined.isFirst { begin(attempt) }
        return true
    }

    /// Removes an operation. After the last one, the stream stays open for a while.
    func leave(_ operation: SharedOperation, _ clock: any Clock<Duration>) {
        let isLast = state.withLock { state in
            state.operations[operation.id] = nil
            return state.operations.isEmpty && !state.isFinished
        }
        guard isLast else { return }
        let closingTask = Task { [weak self] in
            // Throws only if another operation has joined.
            do { try await clock.sleep(for: Self.lingerDuration) } catch { return }
            if !Task.isCancelled { self?.closeIfUnused() }
        }
        // If two operations leave at the same time, only one closes the stream.
        let needless: Task<Void, Never>? = state.withLock { state in
            if !state.operations.isEmpty || state.isFinished { return closingTask }
            defer { state.closingTask = closingTask }
            return state.closingTask
        }
        needless?.cancel()
    }

    /// Stops accepting operations. Existing operations continue.
    func retire() {
        state.withLock { $0.isRetired = true }
        _ = onEnd(self, nil)
    }

    private func closeIfUnused() {
        let (isFinished, readingTask): (Bool, Task<Void, Never>?) = state.withLock { state in
            guard state.operations.isEmpty, !state.isFinished else { return (false, nil) }
            return (true, state.end())
        }
        readingTask?.cancel()
        if isFinished { _ = onEnd(self, nil) }
    }

    // MARK: - The stream

    private func begin(_ attempt: SubscriptionAttempt) {
        var transfer = attempt.operation.transfer
        transfer.removeBody()
        // The shared stream must not inherit the task-local values of its first operation.
        let (maxMessageBytes, clock) = (attempt.endpoint.maxMessageBytes, attempt.operation.clock)
        let readingTask = Task.detached { [transfer, transport = attempt.transport] in
            do throws(NetworkError) {
                let token = try await Self.reserve(transfer, over: transport)
                try await self.read(try await Self.open(transfer, token, over: transport), token, maxMessageBytes)
            } catch {
                self.end(with: error, clock)
            }
        }
        let isFinished = state.withLock { state in
            if !state.isFinished { state.readingTask = readingTask }
            return state.isFinished
        }
        if isFinished { readingTask.cancel() }
    }

    /// Requests a token.
    private static func reserve(
        _ transfer: TransferRequest,
        over transport: any HTTPTransport
    ) async throws(NetworkError) -> String {
        var request = transfer
        request.head.method = .put
        request.body = HTTPBody()
        let response = SubscriptionResponse(try await transport.perform(request), to: request.head)
        guard response.status.kind == .successful else {
            throw await response.refusal(over: SharedEventStreamPerformer.name, concernsTransport: true)
        }
        let text = String(decoding: try await response.response.body.collect(upTo: 1 << 20), as: UTF8.self)
        let words = text.split(whereSeparator: \.isWhitespace)
        guard response.status == .created, words.count == 1, words[0].utf8.count <= 4096,
            words[0].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw response.unsupported(over: SharedEventStreamPerformer.name) }
        return String(words[0])
    }

    /// Requests the stream.
    private static func open(
        _ transfer: TransferRequest,
        _ token: String,
        over transport: any HTTPTransport
    ) async throws(NetworkError) -> SubscriptionResponse {
        var request = transfer
        request.head.method = .get
        request.setStreamToken(token)
        for field in EventSource.fields(after: "") { request.head.headerFields[field.name] = field.value }
        request.delivery = .stream
        request.options = request.options.forEventStream
        let response = SubscriptionResponse(try await transport.perform(request), to: request.head)
        if response.isEventStream { return response }
        guard response.status.kind != .successful else {
            throw response.unsupported(over: SharedEventStreamPerformer.name)
        }
        throw await response.refusal(over: SharedEventStreamPerformer.name, concernsTransport: true)
    }

    private func read(
        _ response: SubscriptionResponse,
        _ token: String,
        _ maxMessageBytes: Int
    ) async throws(NetworkError) {
        let waiting = state.withLock { state in
            state.token = token
            return Array(state.operations.values)
        }
        for operation in waiting { operation.send(with: token) }
        var events = EventStream(maxEventBytes: maxMessageBytes)
        var body = response.response.body.makeAsyncIterator()
        do {
            while let chunk = try await body.next() {
                events.feed(chunk)
                while let event = try Self.next(of: &events, maxMessageBytes) { try take(event) }
            }
        } catch {
            throw NetworkError(wrapping: error).settingReconnectionTime(events.retry)
        }
        throw NetworkError(.truncated, during: .body, "the server ended \(SharedEventStreamPerformer.name)")
            .settingReconnectionTime(events.retry)
    }

    private static func next(
        of events: inout EventStream,
        _ maxMessageBytes: Int
    ) throws(NetworkError) -> EventStream.Event? {
        do throws(NetworkError) {
            return try events.next()
        } catch {
            // Reading an event fails only because of its size.
            throw .messageTooLarge(maxMessageBytes)
        }
    }

    /// Passes an event to its operation. Events of unknown operations are ignored, because the operation may have just
    /// ended.
    private func take(_ event: EventStream.Event) throws(NetworkError) {
        guard event.type == "next" || event.type == "complete" else { return }
        let event = try SharedEvent(event)
        let operation = state.withLock { state in
            state.hasDeliveredResults = true
            return state.operations[event.id]
        }
        if let payload = event.payload { operation?.receive(payload) } else { operation?.complete() }
    }

    private func end(with error: NetworkError, _ clock: any Clock<Duration>) {
        let (operations, loss): ([SharedOperation], Loss?) = state.withLock { state in
            if state.isFinished { return ([], nil) }
            let operations = Array(state.operations.values)
            _ = state.end()
            let loss = Loss(
                error: error,
                isOpen: state.token != nil,
                hasDeliveredResults: state.hasDeliveredResults,
                clock: clock
            )
            return (operations, operations.isEmpty ? nil : loss)
        }
        // Called before the operations can join another stream.
        let error = onEnd(self, loss) ?? error
        for operation in operations { operation.fail(error) }
    }
}

/// An event of a shared stream: `{"id": …, "payload": …}`.
private struct SharedEvent {
    /// The ID of the operation.
    let id: String
    /// The result, or `nil` if the operation is complete.
    let payload: Data?

    /// - Throws: `NetworkError` of kind `.protocol` if a required member is missing.
    init(_ event: EventStream.Event) throws(NetworkError) {
        let text = Data(event.data.utf8)
        let members: TopLevelMembers
        do {
            members = try TopLevelMembers(text)
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
    /// Adds the token of a shared event stream.
    mutating func setStreamToken(_ token: String) {
        head.headerFields[Self.eventStreamToken] = token
        originScopedFields.insert(Self.eventStreamToken)
    }

    /// Removes the body and the header fields that describe it.
    mutating func removeBody() {
        body = nil
        for name in [HTTPField.Name.contentType, .contentLength, .accept] { head.headerFields[name] = nil }
        delivery = .collect
        onProgress = nil
    }

    private static let eventStreamToken = HTTPField.Name("X-GraphQL-Event-Stream-Token")!
}
