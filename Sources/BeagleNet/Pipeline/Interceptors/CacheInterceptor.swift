import BeagleNetDependencies
public import BeagleNetHTTP

/// An interceptor that implements `RequestPolicy`: it returns stored responses and stores those of the network.
///
/// ```swift
/// dependencies.interceptors.add(CacheInterceptor())
/// ```
///
/// It handles shared operations that only read data: screens and images fetched with GET, and queries however they are
/// sent. Forms, mutations, raw requests, subscriptions and streamed responses pass.
///
/// It stores complete responses of status 200 without `no-store`, `no-cache`, `must-revalidate`, `max-age=0` or
/// `Vary: *`, and those of a query only without `errors`. A newer response that may not be stored removes the older
/// one, as do 404 and 410; a query's response with `errors` doesn't. The app decides how long a response is fresh, with
/// `NetworkOperation.maxAge` or a `RequestPolicyInterceptor`: a `max-age` other than 0 is ignored.
///
/// A response is never given to another user. It is stored if its message was sent as requested, with nothing added
/// except the credentials of an `AuthInterceptor`. A response that was fetched with credentials is found only until the
/// next `reset()`, or until they couldn't be renewed.
///
/// In the following cases, a response is stored only if the operation has a `partition`, which must identify the user:
/// another interceptor changed the message, the transport may keep cookies, the response sets a cookie, or the response
/// isn't the transport's. An app's own transport counts as keeping cookies, unless the operation's options turn off
/// `usesCookies`.
public struct CacheInterceptor: Interceptor {
    /// The interceptor's place: `.cache`.
    public var place: Pipeline.Place? { .cache }
    /// The store of responses.
    public let store: any DocumentStore
    /// The store, if it is in memory and never waits.
    private let memory: MemoryDocumentStore?
    /// Whether the store is in memory.
    ///
    /// A store on disk would block the transport's thread.
    public var neverBlocks: Bool { memory != nil }

    /// Creates an interceptor.
    ///
    /// - Parameter store: The store of responses; by default in memory, at most 16 MiB.
    public init(_ store: any DocumentStore = MemoryDocumentStore()) {
        self.store = store
        memory = store as? MemoryDocumentStore
    }

    /// Returns `true` for operations that only read data and whose response may be stored.
    public func applies(to operation: NetworkOperation) -> Bool {
        guard operation.kind.isStorable, operation.question != nil else { return false }
        return operation.kind == .query || operation.transfer.head.method == .get
    }

    /// Returns a response from memory, as the operation's policy specifies, and stores new ones.
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

    /// Returns a response as the operation's policy specifies.
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

    /// Returns a response in memory that satisfies the operation.
    func result(inMemoryFor operation: NetworkOperation) -> NetworkOperation.Result? {
        result(memory?.document(for: operation), operation)
    }

    /// Returns a stored response that satisfies the operation.
    nonisolated(nonsending) func result(storedFor operation: NetworkOperation) async -> NetworkOperation.Result? {
        result(await store.document(for: operation), operation)
    }

    private func result(_ stored: StoredDocument?, _ operation: NetworkOperation) -> NetworkOperation.Result? {
        guard let stored, operation.isContent(with: stored) else { return nil }
        return .init(stored.response, from: .cache)
    }

    /// An observation that stores the network's response, or looks for a substitute if the request fails.
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
                // A deadline has cancelled this task, and a store might refuse to read in a cancelled task.
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
            // Check this now, because another user may have signed in in the meantime.
            if next.credentialOwner != operation.person { return .leave }
            guard operation.partition.isEmpty,
                !departure.isAsAsked || response.response.headerFields.contains(.setCookie)
            else { return verdict }
            operation.log(NotStoredMessage())
            return .forget
        }

        /// Whether a stored response may replace the outcome: the server couldn't be reached, or not before the
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

    /// A decision about the stored response.
    private enum Verdict {
        case store(NetworkResponse)
        case forget
        case leave

        /// - Parameter memory: The store in memory; `nil` if the store is another one.
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
            // A rejected image must not remove the stored response.
            if operation.refuses(result) { return }
            // A response with errors says nothing about the stored one, and must not remove it. Most responses to an
            // unknown hash, for example, forbid storing.
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
    /// Whether the policy reads the store before using the network.
    fileprivate var looksFirst: Bool {
        switch self {
        case .cacheFirst, .cacheOnly, .cacheAndNetwork: true
        case .networkOnly, .networkFirst: false
        }
    }
}

extension NetworkOperation.Kind {
    /// Whether responses of this kind may be stored: the kind is shared and has a single response.
    var isStorable: Bool { isShared && self != .subscription }
}

extension NetworkOperation {
    /// Whether only a store may supply the response.
    var isForStoreAlone: Bool { policy == .cacheOnly && kind.isStorable }

    /// Whether a stored response satisfies the operation without the network.
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
    /// Whether the server couldn't be reached or reported that it is out of order. RFC 5861, section 4, then permits a
    /// stale response.
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
    /// Whether the fields forbid storing the response, or using it without revalidation (RFC 9111, 5.2.2.4 and
    /// 5.2.2.5). Both mean the same here.
    fileprivate var forbidStoring: Bool {
        hasDirective { name, _ in name == "no-store" || name == "no-cache" }
    }

    /// Whether the response is stale immediately, or must not be used when it is stale (RFC 9111, 5.2.2.1 and 5.2.2.2).
    /// The cache doesn't track when it becomes stale.
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
    /// The error if an operation reads only the store and nothing is stored.
    ///
    /// - Parameter hasStore: Whether there is a store.
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

/// A log message for a response that isn't stored because it might be another user's.
private struct NotStoredMessage: LogType {
    var category: String { "Cache" }
    var level: LogLevel { .debug }
    var message: String {
        "Response not stored: the request was changed before it was sent, or it may have had cookies; "
            + "give the operation a partition"
    }
}

/// A log message for an operation whose key doesn't identify the user.
private struct PartitionMessage: LogType {
    var category: String { "Cache" }
    var level: LogLevel { .warning }
    var message: String {
        "Cache bypassed: an interceptor changed the partition of the operation; "
            + "set the partition before running the operation"
    }
}
