import BeagleNetDependencies
public import BeagleNetHTTP

/// Makes `RequestPolicy` act: answers from a store, and keeps there what the network answers.
///
/// ```swift
/// dependencies.interceptors.add(CacheInterceptor())
/// ```
///
/// It serves operations that are shared and only ask: screens and images that are fetched with GET, and queries however
/// they are sent. Forms, mutations, raw requests, subscriptions and streamed answers pass. Stored are whole answers of
/// status 200 that do not say `no-store`, `no-cache`, `must-revalidate`, `max-age=0` or `Vary: *`; a query's only without
/// `errors`. A newer answer that may not be stored takes an older one away, as 404 and 410 do, but a query's with `errors`
/// leaves what is stored. How long an answer is good is the app's to say, with `NetworkOperation.maxAge` or a
/// `RequestPolicyInterceptor`: another `max-age` than 0 is not looked at.
///
/// Nobody is given what was fetched for somebody else. An answer is stored where its message went out as it was asked,
/// with nothing added but the credentials of an `AuthInterceptor`: what was fetched with those is found only until the
/// next `reset()`, or until they could not be renewed. Where another interceptor put something on the message or changed
/// it, where the transport may keep cookies or the answer sets one, and where the answer is not the transport's, only an
/// operation with a `partition` has it stored, and the partition says whose it is. A transport of the app's own counts as
/// one that keeps cookies, except for operations whose options say not `usesCookies`.
public struct CacheInterceptor: Interceptor {
    /// `.cache`.
    public var place: Pipeline.Place? { .cache }
    /// Where answers are kept.
    public let store: any DocumentStore
    /// The same, where nothing has to be waited for.
    private let memory: MemoryDocumentStore?
    /// Whether the store is in memory: a disk would block the transport's thread.
    public var neverBlocks: Bool { memory != nil }

    /// Answers from a store.
    ///
    /// - Parameter store: where answers are kept; in memory, 16 MiB at most, by default.
    public init(_ store: any DocumentStore = MemoryDocumentStore()) {
        self.store = store
        memory = store as? MemoryDocumentStore
    }

    /// With what is asked and may be stored.
    public func applies(to operation: NetworkOperation) -> Bool {
        guard operation.kind.isStorable, operation.question != nil else { return false }
        return operation.kind == .query || operation.transfer.head.method == .get
    }

    /// Answers from memory, as the operation's policy says, and stores what comes.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        guard isUsable(for: operation) else { return .proceed(nil) }
        var stale: NetworkOperation.Result?
        if operation.policy.looksFirst {
            guard let memory else { return .wait }
            switch found(memory.document(for: operation), operation, next) {
            case .answer(let result): return .answer(result)
            case .stale(let result): stale = result
            case .nothing: if operation.policy == .cacheOnly { return .fail(.notStored(operation, hasStore: true)) }
            }
        }
        let storing = Storing(self, operation, next)
        return stale.map { .emit($0, storing) } ?? .proceed(storing)
    }

    /// Answers as the operation's policy says.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard isUsable(for: operation) else { return try await next(operation, emit) }
        if operation.policy.looksFirst {
            switch found(await store.document(for: operation), operation, next) {
            case .answer(let result): return result
            case .stale(let result): emit(result)
            case .nothing: if operation.policy == .cacheOnly { throw .notStored(operation, hasStore: true) }
            }
        }
        return try await next(operation, emit, observedBy: Storing(self, operation, next))
    }

    private func isUsable(for operation: NetworkOperation) -> Bool {
        if operation.isOfKeyedPartition { return true }
        operation.log(PartitionMessage())
        return false
    }

    /// The use of a stored response for an operation.
    private enum Found {
        case nothing
        case answer(NetworkOperation.Result)
        case stale(NetworkOperation.Result)
    }

    private func found(_ stored: StoredDocument?, _ operation: NetworkOperation, _ next: Next) -> Found {
        guard let stored else { return .nothing }
        if operation.isContent(with: stored) {
            return .answer(next.used(.init(stored.response, from: .cache), for: operation))
        }
        return .stale(next.used(.stale(stored), for: operation))
    }

    /// A response in memory that will do for the operation.
    func result(inMemoryFor operation: NetworkOperation) -> NetworkOperation.Result? {
        result(memory?.document(for: operation), operation)
    }

    /// A stored response that will do for the operation.
    nonisolated(nonsending) func result(storedFor operation: NetworkOperation) async -> NetworkOperation.Result? {
        result(await store.document(for: operation), operation)
    }

    private func result(_ stored: StoredDocument?, _ operation: NetworkOperation) -> NetworkOperation.Result? {
        guard let stored, operation.isContent(with: stored) else { return nil }
        return .init(stored.response, from: .cache)
    }

    /// Stores what the network answers, and looks for a substitute if it doesn't.
    private final class Storing: RequestObservation {
        private let cache: CacheInterceptor
        private let operation: NetworkOperation
        private let next: Next
        private let departure = Departure()

        init(_ cache: CacheInterceptor, _ operation: NetworkOperation, _ next: Next) {
            self.cache = cache
            self.operation = operation
            self.next = next
            operation.run?.departure = departure
        }

        func willEmit(_ result: NetworkOperation.Result) -> NetworkOperation.Result? {
            departure.note(result)
            return result
        }

        func mustWait(after outcome: NetworkOperation.Outcome) -> Bool { cache.memory == nil }

        func didEnd(_ outcome: inout NetworkOperation.Outcome, of sent: NetworkOperation) {
            guard let memory = cache.memory else { return }
            switch verdict(on: outcome) {
            case .leave: break
            case .forget: memory.remove(operation)
            case .store(let response): memory.store(response, for: operation)
            }
            if wantsSubstitute(for: outcome), let result = substitute(memory.document(for: operation)) {
                outcome = .success(result)
            }
        }

        nonisolated(nonsending) func resume(
            after outcome: NetworkOperation.Outcome,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            let store = cache.store
            switch verdict(on: outcome) {
            case .leave: break
            case .forget: await store.remove(operation)
            case .store(let response): await store.store(response, for: operation)
            }
            if wantsSubstitute(for: outcome) {
                // A deadline has cancelled this task, in which a store might refuse to look.
                let stored =
                    outcome.isCancelled
                    ? await Task { [operation] in await store.document(for: operation) }.value
                    : await store.document(for: operation)
                if let result = substitute(stored) { return result }
            }
            return try outcome.get()
        }

        private func verdict(on outcome: NetworkOperation.Outcome) -> Verdict {
            let verdict = departure.hasPieces ? .leave : Verdict(on: outcome, to: operation, cache.memory)
            guard case .store(let response) = verdict else { return verdict }
            // Asked now, as another user may have signed in meanwhile.
            if next.credentialOwner != operation.person { return .leave }
            guard operation.partition.isEmpty,
                !departure.isAsAsked || response.response.headerFields.contains(.setCookie)
            else { return verdict }
            operation.log(NotStoredMessage())
            return .forget
        }

        /// Whether a stored response may take the place of the outcome: the network could not be reached, or not before the
        /// operation's deadline.
        private func wantsSubstitute(for outcome: NetworkOperation.Outcome) -> Bool {
            operation.policy == .networkFirst
                && (outcome.isOutOfReach || outcome.isCancelled && operation.countdown?.isExpired == true)
        }

        private func substitute(_ stored: StoredDocument?) -> NetworkOperation.Result? {
            guard let stored, !operation.refuses(.stale(stored)) else { return nil }
            return next.used(.stale(stored), for: operation)
        }
    }

    /// What becomes of what is stored.
    private enum Verdict {
        case store(NetworkResponse)
        case forget
        case leave

        /// - Parameter memory: where the answer would be kept; nil where that is no store in memory.
        init(
            on outcome: Result<NetworkOperation.Result, NetworkError>,
            to operation: NetworkOperation,
            _ memory: MemoryDocumentStore?
        ) {
            self = .leave
            if [404, 410].contains(outcome.status?.code) { self = .forget }
            guard case .success(let result) = outcome, let response = result.response, response.status == .ok,
                result.source == .network, result.isSettled
            else { return }
            // What nobody is given takes nothing from anybody.
            if operation.refuses(result) { return }
            // What the server has of it is not known: a hash that it does not know forbids storing, mostly.
            if operation.kind == .query, !response.data.isObject(without: "errors") { return }
            let isTooMuch = memory.map { !$0.mayKeep(response) } ?? false
            if isTooMuch || response.forbidsStoring || operation.transfer.head.headerFields.forbidStoring {
                self = .forget
            } else {
                self = .store(response)
            }
        }
    }
}

extension RequestPolicy {
    /// Whether the store is asked before the network.
    fileprivate var looksFirst: Bool {
        switch self {
        case .cacheFirst, .cacheOnly, .cacheAndNetwork: true
        case .networkOnly, .networkFirst: false
        }
    }
}

extension NetworkOperation.Kind {
    /// Whether answers of this kind may be stored: it is shared, and one answer is all there is.
    var isStorable: Bool { isShared && self != .subscription }
}

extension NetworkOperation {
    /// Whether nobody but a store may answer it.
    var isForStoreAlone: Bool { policy == .cacheOnly && kind.isStorable }

    /// Whether a stored answer is all that it wants.
    fileprivate func isContent(with stored: StoredDocument) -> Bool {
        switch policy {
        case .cacheOnly: true
        case .cacheFirst: maxAge.map { stored.age < $0 } ?? true
        default: false
        }
    }
}

extension NetworkOperation.Result {
    fileprivate static func stale(_ stored: StoredDocument) -> Self {
        Self(.response(stored.response), from: .cache, isStale: true)
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// Whether the server could not be reached, or said that it is out of order: when RFC 5861, 4 lets a stale answer
    /// take its place.
    fileprivate var isOutOfReach: Bool {
        if let status { return [500, 502, 503, 504].contains(status.code) }
        if case .failure(let error) = self { return error.isTransient }
        return false
    }

    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { return error.isCancelled }
        return false
    }
}

extension NetworkResponse {
    fileprivate var forbidsStoring: Bool {
        let fields = response.headerFields
        return fields.forbidStoring || fields.wantRevalidation || (fields[.vary] ?? "").contains("*")
    }
}

extension HTTPFields {
    /// Whether they say that the answer must not be stored, or not be used before the server was asked (RFC 9111,
    /// 5.2.2.4 and 5.2.2.5), which comes to the same here.
    fileprivate var forbidStoring: Bool {
        hasDirective { name, _ in name == "no-store" || name == "no-cache" }
    }

    /// Whether they say that the answer is stale at once, or must not be used when it is (RFC 9111, 5.2.2.1 and 5.2.2.2):
    /// when that is, nobody looks.
    fileprivate var wantRevalidation: Bool {
        hasDirective { name, value in name == "must-revalidate" || name == "max-age" && Int(value) == 0 }
    }

    private func hasDirective(_ isMeant: (_ name: String, _ value: String) -> Bool) -> Bool {
        guard let directives = self[.cacheControl]?.lowercased() else { return false }
        return directives.split(separator: ",").contains { directive in
            let name = directive.prefix { $0 != "=" }
            let value = directive[name.endIndex...].filter { !$0.isWhitespace && $0 != "=" && $0 != "\"" }
            return isMeant(name.filter { !$0.isWhitespace }, value)
        }
    }
}

extension NetworkError {
    /// The operation wants a stored answer, and there is none.
    ///
    /// - Parameter hasStore: whether anything stores answers at all.
    static func notStored(_ operation: NetworkOperation, hasStore: Bool) -> NetworkError {
        var error = NetworkError(
            .notStored,
            during: .queue,
            hasStore ? "no response is stored" : "no response is stored because there is no cache",
            advice: hasStore ? "use the policy cacheFirst" : "add a CacheInterceptor"
        )
        if operation.transfer.head.authority != nil { error.request = operation.transfer.head }
        return error
    }
}

/// What a log says where an answer might be somebody's.
private struct NotStoredMessage: LogType {
    var category: String { "Cache" }
    var level: LogLevel { .debug }
    var message: String {
        "Response not stored: the request was changed before it was sent, or it may have had cookies; "
            + "give the operation a partition"
    }
}

/// What a log says where the key does not say whose an answer is.
private struct PartitionMessage: LogType {
    var category: String { "Cache" }
    var level: LogLevel { .warning }
    var message: String {
        "Cache bypassed: an interceptor changed the partition of the operation; "
            + "set the partition before running the operation"
    }
}
