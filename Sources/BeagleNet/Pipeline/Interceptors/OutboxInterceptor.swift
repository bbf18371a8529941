import BeagleNetDependencies
public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Puts forms and mutations into an `Outbox`, which sends them.
///
/// An operation gets an `Idempotency-Key` where it has none, is written to disk, and is sent when its turn has come. Its
/// answer is that of the server; where there is none, the error `isKept`: the outbox sends it later.
///
/// Cancelling an operation before it is written means that nothing is sent. From then on it is the outbox's: cancelling
/// ends the wait, with an error of kind `.cancelled` that `isKept`, and a deadline likewise. `Outbox.remove` takes it out.
///
/// A mutation that would go in one of the ways of subscriptions is posted, the first time as well: as the message that has
/// the key.
///
/// Entries of a queue have the order in which operations come here: what is called one after another on one actor keeps
/// its order, what several tasks do at once has none.
///
/// A body in a file, and one that can be read again such as a form with files, is copied, up to `Outbox.Limits`; a body that
/// can be read only once is refused, and a streamed answer where a queue was asked for.
///
/// Fields that the redactor takes for secret, and those that belong to the origin (`TransferRequest.originScopedFields`), are
/// not written: builder and interceptors bring them anew. Bodies and URLs are written as they are. A `Form` with a secret that
/// is filled in is therefore sent without being kept unless its `outbox` names a queue; a sign-in that is a `FormData` of your
/// own is kept: give its operation `.never`, as every message whose body holds credentials.
///
/// If a recording answers in the network's place (`ReplayClient` without a fallback), nothing is kept, and entries that wait
/// are not sent: a form that the recording lacks must not reach a server later.
///
/// Options of a request are not written; it goes out again with those of the client, without `timeouts.total`. What has an
/// address guard, pins, an identity or a function for redirects of its own is therefore sent without being kept, or refused
/// where a queue was asked for.
///
/// The log says which operations are sent without being kept, and why, and so does the error of one that is lost.
public struct OutboxInterceptor: Interceptor {
    /// `.outbox`.
    public var place: Pipeline.Place? { .outbox }
    /// Files are read and written elsewhere.
    public var neverBlocks: Bool { true }
    /// Where operations are kept.
    public let outbox: Outbox
    /// The kinds of operation that are kept without asking for it.
    public let kinds: Set<NetworkOperation.Kind>
    private let queue: @Sendable (NetworkOperation) -> String

    /// Puts operations into an outbox.
    ///
    /// - Parameters:
    ///   - outbox: where they are kept.
    ///   - kinds: those that are kept unless they say otherwise (`NetworkOperation.outbox`); forms and mutations by default.
    ///   - queue: the queue of an operation that names none; by default each origin has one, so that a server which cannot
    ///     be reached holds up nothing for another.
    public init(
        _ outbox: Outbox,
        kinds: Set<NetworkOperation.Kind> = [.form, .mutation],
        queue: (@Sendable (NetworkOperation) -> String)? = nil
    ) {
        self.outbox = outbox
        self.kinds = kinds
        self.queue = queue ?? { "\($0.origin.scheme)://\($0.origin.host):\($0.origin.port)" }
    }

    /// With operations that are kept, and with those that an outbox sends; not with what is asked in order to send one, such
    /// as for credentials, which would wait for its own end.
    public func applies(to operation: NetworkOperation) -> Bool {
        if operation.outboxMessage != nil { return true }
        if operation.surroundings.isOffline { return false }
        switch operation.outbox {
        case .never: return false
        case .queue: return !isForSending
        case .automatic: break
        }
        return kinds.contains(operation.kind) && !operation.transfer.head.method.isSafe
            && operation.transfer.delivery == .collect && !isForSending
    }

    private var isForSending: Bool { CredentialFetch.isOne || OutboxSending.isUnderWay }

    /// Writes the operation to disk and gives the answer to it.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        if let message = operation.outboxMessage {
            if operation.surroundings.isOffline { throw .recordingAnswers }
            operation.take(message)
            return try await next(operation, emit)
        }
        let queue = if case .queue(let name) = operation.outbox { name } else { self.queue(operation) }
        if let why = operation.reasonNotToKeep {
            if case .queue = operation.outbox { throw .notForOutbox(why) }
            return try await send(operation, unkept: why, next, emit)
        }
        // What is sent under a key is sent as the message that has it.
        operation.performer = nil
        operation.outboxMark?.take()
        if Task.isCancelled { throw .cancelledBeforeStart }
        // Before anything is waited for: in this order they are written.
        let place = outbox.line.enter(queue)
        defer { place.leave() }
        let message = try await message(of: &operation, in: queue)
        let sending = OutboxSending(key: message.idempotencyKey)
        operation.outboxSending = sending
        // A deadline ends the wait, and not what is sent.
        operation.countdown?.leaveTransfersAlone()
        let isHeard = Lock(true)
        defer { isHeard.withLock { $0 = false } }
        let turn = OutboxTurn(sending) { [operation] () throws(NetworkError) in
            try await next(operation) { result in
                guard isHeard.withLock({ $0 }) else { return }
                // What is asked by the one who hears it is no part of the sending.
                OutboxSending.$current.withValue(nil) { emit(result) }
            }
        }
        defer { outbox.tellLog(operation.logger) }
        return try await outbox.deliver(message, at: place, turn)
    }

    /// Sends an operation that must not be kept, and says that it is lost if no answer comes.
    nonisolated(nonsending) private func send(
        _ operation: NetworkOperation,
        unkept why: String,
        _ next: Next,
        _ emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        operation.logUnkept("is sent without being kept in the outbox: \(why)", at: .warning)
        do throws(NetworkError) {
            return try await next(operation, emit)
        } catch {
            guard error.leavesMessageOpen else { throw error }
            operation.logUnkept("was not delivered and is not kept in the outbox: \(why)", at: .debug)
            var told = error
            let advice = "the outbox did not keep the request: \(why)"
            told.advice = error.advice.map { "\($0); \(advice)" } ?? advice
            throw told
        }
    }

    /// What is written; the operation gets its key and a body that can be read when its turn comes.
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
    /// Puts what was kept in the place of what the client has made; its credentials, and what else belongs to the origin,
    /// stay. Nobody waits: it may take as long as it needs.
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
    /// The bytes in memory, of a file and of what can be read again as well.
    nonisolated(nonsending) fileprivate func read(for limits: Outbox.Limits) async throws(NetworkError) -> Data {
        if let data, data.count <= limits.maxEntryBytes { return data }
        // Files are not read on the caller's thread, which may be the one that draws or the transport's.
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
    fileprivate func logUnkept(_ what: String, at level: LogLevel) {
        guard logger.accepts(level) else { return }
        let head = transfer.head
        let message = "\(head.method.rawValue) \(head.redactedURL) \(what)"
        logger.log(OutboxLogMessage(level: level, message: message))
    }
}

extension NetworkError {
    /// An answer of a recording would take the entry out of the outbox, although no server has seen it.
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
