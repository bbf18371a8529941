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
/// A body in a file, and one that can be read again such as a form with files, is copied, up to `Outbox.Limits`; a body that
/// can be read only once, and a streamed answer, are refused where a queue was asked for.
public struct OutboxInterceptor: BriefInterceptor {
    /// `.outbox`.
    public var place: Pipeline.Place? { .outbox }
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
        switch operation.outbox {
        case .never: return false
        case .queue: return !isForSending
        case .automatic: break
        }
        if operation.outboxMessage != nil { return true }
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
            operation.take(message)
            return try await next(operation, emit)
        }
        let message = try await message(of: &operation)
        let sending = OutboxSending(key: message.idempotencyKey)
        operation.outboxSending = sending
        let isHeard = Lock(true)
        defer { isHeard.withLock { $0 = false } }
        let turn = OutboxTurn(sending) { [operation] () throws(NetworkError) in
            try await next(operation) { result in
                guard isHeard.withLock({ $0 }) else { return }
                // What is asked by the one who hears it is no part of the sending.
                OutboxSending.$current.withValue(nil) { emit(result) }
            }
        }
        return try await outbox.deliver(message, turn)
    }

    /// What is written; the operation gets its key and a body that can be read when its turn comes.
    nonisolated(nonsending) private func message(
        of operation: inout NetworkOperation
    ) async throws(NetworkError) -> OutboxMessage {
        guard operation.transfer.delivery == .collect else { throw .notForOutbox("its answer is streamed") }
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
        var head = operation.transfer.head
        head.headerFields.removeAll { $0.name != .idempotencyKey && redactor.isSecret(header: $0.name.rawName) }
        let name = if case .queue(let name) = operation.outbox { name } else { queue(operation) }
        return OutboxMessage(
            queue: name,
            kind: operation.kind,
            partition: operation.partition,
            accepted: outbox.now(),
            head: head,
            body: body
        )
    }
}

extension NetworkOperation {
    /// Puts what was kept in the place of what the client has made; its credentials stay.
    fileprivate mutating func take(_ message: OutboxMessage) {
        let redactor = redactor
        var head = message.head
        for field in transfer.head.headerFields
        where redactor.isSecret(header: field.name.rawName) && !head.headerFields.contains(field.name) {
            head.headerFields.append(field)
        }
        transfer.head = head
        transfer.body = message.body.map { HTTPBody($0) }
    }
}

extension HTTPBody {
    /// The bytes in memory, of a file and of what can be read again as well.
    nonisolated(nonsending) fileprivate func read(for limits: Outbox.Limits) async throws(NetworkError) -> Data {
        do throws(NetworkError) {
            return try await collect(upTo: limits.maxEntryBytes)
        } catch {
            if error.kind == .tooLarge { throw .outboxEntryTooLarge(limits) }
            throw error
        }
    }
}

extension HTTPRequest.Method {
    /// RFC 9110, 9.2.1.
    fileprivate var isSafe: Bool { [.get, .head, .options, .trace].contains(self) }
}

extension NetworkError {
    fileprivate static func notForOutbox(_ why: String) -> NetworkError {
        NetworkError(
            .badRequest,
            during: .build,
            "the operation cannot be kept in an outbox: \(why)",
            advice: "give it bytes or a file, or set its outbox to .never"
        )
    }
}
