import BeagleNetDependencies
public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An interceptor that stores forms and mutations in an `Outbox`, which sends them.
///
/// An operation gets an `Idempotency-Key` if it has none, is written to disk, and is sent when its turn comes. Its
/// result is the server's response. Without a response, it fails with an error that `isStoredInOutbox`, and the outbox
/// sends it later.
///
/// If an operation is cancelled before it is written, nothing is sent. Afterwards, cancelling or a deadline only ends
/// the wait, with an error that `isStoredInOutbox`; for cancelling, its kind is `.cancelled`. To remove the entry, call
/// `Outbox.remove`.
///
/// A mutation that would use a transport of subscriptions, such as a WebSocket, is sent with POST from the first
/// attempt on, because that message has the key.
///
/// Entries of a queue are in the order in which operations arrive here. Calls that follow one another on one actor keep
/// their order; calls from several tasks at the same time have no defined order.
///
/// A body in a file and other bodies that can be read again, such as a form with files, are copied, up to
/// `Outbox.Limits`. A body that can be read only once is rejected, and so is a streamed response if a queue was
/// requested.
///
/// Fields that the redactor treats as secret and origin-scoped fields (`TransferRequest.originScopedFields`) aren't
/// stored: the builder and the interceptors add them again. Bodies and URLs are stored as they are. A `Form` with a
/// filled-in secret is therefore sent without being stored, unless its `outbox` names a queue. A sign-in as your own
/// `FormData` is stored: set `.never` for its operation, as for every message with credentials in its body.
///
/// If a recording replaces the network (`ReplayClient` without a fallback), nothing is stored and pending entries
/// aren't sent: a form that isn't in the recording must not reach a server later.
///
/// The options of a request aren't stored. An entry is sent with the client's options, without `timeouts.total`. An
/// operation with its own address guard, pins, identity or redirect function is therefore sent without being stored, or
/// rejected if a queue was requested.
///
/// The log says which operations are sent without being stored, and why. If such an operation is lost, its error says
/// so, too.
public struct OutboxInterceptor: Interceptor {
    /// The interceptor's place: `.outbox`.
    public var place: Pipeline.Place? { .outbox }
    /// `true`: files are read and written on other threads.
    public var neverBlocks: Bool { true }
    /// The outbox that stores operations.
    public let outbox: Outbox
    /// The kinds of operations that are stored by default.
    public let kinds: Set<NetworkOperation.Kind>
    private let queue: @Sendable (NetworkOperation) -> String

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - outbox: The outbox that stores operations.
    ///   - kinds: The kinds to store unless the operation specifies otherwise (`NetworkOperation.outbox`); forms and
    ///     mutations by default.
    ///   - queue: Returns the queue of an operation that names none. By default, each origin has a queue, so that an
    ///     unreachable server doesn't delay requests to another.
    public init(
        _ outbox: Outbox,
        kinds: Set<NetworkOperation.Kind> = [.form, .mutation],
        queue: (@Sendable (NetworkOperation) -> String)? = nil
    ) {
        self.outbox = outbox
        self.kinds = kinds
        self.queue = queue ?? { "\($0.origin.scheme)://\($0.origin.host):\($0.origin.port)" }
    }

    /// Returns `true` for operations to store and for those that an outbox sends.
    ///
    /// Returns `false` for prerequisite requests of a sending, such as fetching a credential, which would wait for
    /// their own end.
    public func applies(to operation: NetworkOperation) -> Bool {
        if operation.outboxMessage != nil { return true }
        if operation.operationEnvironment.isOffline { return false }
        switch operation.outbox {
        case .never: return false
        case .queue: return !isForSending
        case .automatic: break
        }
        return kinds.contains(operation.kind) && !operation.transfer.head.method.isSafe
            && operation.transfer.delivery == .collect && !isForSending
    }

    private var isForSending: Bool { CredentialFetch.isActive || OutboxSending.isUnderWay }

    /// Writes the operation to disk and returns its response.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        if let message = operation.outboxMessage {
            if operation.operationEnvironment.isOffline { throw .recordingAnswers }
            operation.take(message)
            return try await next(operation, emit)
        }
        let queue = if case .queue(let name) = operation.outbox { name } else { self.queue(operation) }
        if let why = operation.reasonNotToStore {
            if case .queue = operation.outbox { throw .notForOutbox(why) }
            return try await send(operation, unkept: why, next, emit)
        }
        // A message with a key must be sent as exactly this message.
        operation.performer = nil
        operation.outboxWriteFlag?.set()
        if Task.isCancelled { throw .cancelledBeforeStart }
        // Enter the line before the first wait, because this defines the order of entries.
        let place = outbox.writeQueue.enter(queue)
        defer { place.leave() }
        let message = try await message(of: &operation, in: queue)
        let sending = OutboxSending(key: message.idempotencyKey)
        operation.outboxSending = sending
        // A deadline ends the caller's wait, but not the sending.
        operation.deadlineTimer?.stopLimitingTransfers()
        let isHeard = Lock(true)
        defer { isHeard.withLock { $0 = false } }
        let turn = OutboxSendTask(sending) { [operation] () throws(NetworkError) in
            try await next(operation) { result in
                guard isHeard.withLock({ $0 }) else { return }
                // Requests that the subscriber makes in response don't belong to the sending.
                OutboxSending.$current.withValue(nil) { emit(result) }
            }
        }
        defer { outbox.logProblems(operation.logger) }
        return try await outbox.deliver(message, at: place, turn)
    }

    /// Sends an operation that must not be stored.
    ///
    /// If there is no response, the error says that the operation is lost.
    nonisolated(nonsending) private func send(
        _ operation: NetworkOperation,
        unkept why: String,
        _ next: Next,
        _ emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        operation.logNotStored("is sent without being kept in the outbox: \(why)", at: .warning)
        do throws(NetworkError) {
            return try await next(operation, emit)
        } catch {
            guard error.leavesMessageOpen else { throw error }
            operation.logNotStored("was not delivered and is not kept in the outbox: \(why)", at: .debug)
            var told = error
            let advice = "the outbox did not keep the request: \(why)"
            told.advice = error.advice.map { "\($0); \(advice)" } ?? advice
            throw told
        }
    }

    /// Returns the message to write.
    ///
    /// The operation gets its key and a body that can be read when its turn comes.
    nonisolated(nonsending) private func message(
        of operation: inout NetworkOperation,
        in queue: String
    ) async throws(NetworkError) -> OutboxMessage {
        guard operation.transfer.delivery == .collect else { throw .notForOutbox("its response is streamed") }
        guard operation.transfer.body?.isReplayable ?? true else {
            throw .notForOutbox("its body can be read only once")
        }
        let body = try await operation.transfer.body?.read(for: outbox.limits)
        if let body { operation.transfer.body = HTTPBody(body) }
        if !operation.transfer.head.headerFields.contains(.idempotencyKey) {
            let key = operation.idempotencyKey ?? "\"\(UUID().uuidString.lowercased())\""
            operation.transfer.head.headerFields[.idempotencyKey] = key
        }
        let redactor = operation.redactor
        let scoped = operation.transfer.originScopedFields
        var head = operation.transfer.head
        head.headerFields.removeAll { field in
            field.name != .idempotencyKey
                && (scoped.contains(field.name) || redactor.isSecret(header: field.name.rawName))
        }
        return OutboxMessage(
            queue: queue,
            kind: operation.kind,
            partition: operation.partition,
            accepted: outbox.now(),
            head: head,
            body: body
        )
    }
}

extension NetworkOperation {
    /// Replaces the client's message with the stored one, but keeps its credentials and other origin-scoped fields.
    /// Removes the total timeout, because no caller waits.
    fileprivate mutating func take(_ message: OutboxMessage) {
        let (redactor, scoped) = (redactor, transfer.originScopedFields)
        var head = message.head
        for field in transfer.head.headerFields where !message.head.headerFields.contains(field.name) {
            let isLeftOut = scoped.contains(field.name) || redactor.isSecret(header: field.name.rawName)
            if isLeftOut { head.headerFields.append(field) }
        }
        transfer.head = head
        transfer.body = message.body.map { HTTPBody($0) }
        transfer.options.timeouts.total = nil
    }
}

extension HTTPBody {
    /// Reads the bytes into memory, including those of a file or another body that can be read again.
    nonisolated(nonsending) fileprivate func read(for limits: Outbox.Limits) async throws(NetworkError) -> Data {
        if let data, data.count <= limits.maxEntryBytes { return data }
        // Files aren't read on the caller's thread, which may be the main thread or the transport's.
        let reading = Task.detached {
            await Result<Data, NetworkError>.catching { () throws(NetworkError) in
                try await collect(upTo: limits.maxEntryBytes)
            }
        }
        let result = await withTaskCancellationHandler {
            await reading.value
        } onCancel: {
            reading.cancel()
        }
        do throws(NetworkError) {
            return try result.get()
        } catch {
            if error.kind == .tooLarge { throw .outboxEntryTooLarge(limits) }
            throw error
        }
    }
}

extension NetworkOperation {
    fileprivate func logNotStored(_ what: String, at level: LogLevel) {
        guard logger.accepts(level) else { return }
        let head = transfer.head
        let message = "\(head.method.rawValue) \(head.redactedURL) \(what)"
        logger.log(OutboxLogMessage(level: level, message: message))
    }
}

extension NetworkError {
    /// The error for an entry whose response would come from a recording. It would be removed from the outbox, although
    /// no server has received it.
    fileprivate static let recordingAnswers = NetworkError(
        .notInRecording,
        during: .queue,
        "the outbox entry was not sent because a recording replaces the network",
        advice: "flush the outbox with a client that sends requests to the server"
    )

    fileprivate static func notForOutbox(_ why: String) -> NetworkError {
        NetworkError(
            .badRequest,
            during: .build,
            "the operation cannot be kept in an outbox: \(why)",
            advice: "use a body of bytes or a file, or set its outbox to .never"
        )
    }
}
