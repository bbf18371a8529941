public import BeagleNetCache
import BeagleNetDependencies
public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Serves responses from a store, and stores those of the network, as HTTP (RFC 9111) and the `RequestPolicy` of each
/// operation say.
///
/// ```swift
/// dependencies.interceptors.add(CacheInterceptor())
/// ```
///
/// It applies to screens, images and raw requests that are fetched with GET or HEAD, and to GraphQL queries. A stale
/// response is validated with its `ETag`, `Last-Modified` or `beagle-hash`; if the server confirms it with 304, it is
/// served from the store. A successful request with an unsafe method, as for a form, removes the responses of its URL.
/// Streamed responses are stored when the app has read them. If a transfer ends early, the bytes so far are kept, and
/// the next request asks only for the rest, provided that the server sent a strong validator. Subscriptions, event
/// streams and files pass through unchanged. Responses to queries that are sent with POST are outside of HTTP's rules:
/// they are stored if they have no `errors`.
///
/// Responses never reach another user. Without an `AuthInterceptor` and a `NetworkOperation.partition`, a response is
/// stored only if its request was sent as the app made it, without cookies. Responses that were fetched with the
/// credentials of an `AuthInterceptor` are found only until its next `reset()`, or until the credentials can't be
/// renewed. If an interceptor changed the request, if the transport may keep cookies, or if the response sets one, only
/// an operation with a `partition` has its response stored. A transport of the app's own counts as one that keeps
/// cookies, unless `usesCookies` is `false` in the options of the operation.
public struct CacheInterceptor: Interceptor {
    /// `.cache`.
    public var place: Pipeline.Place? { .cache }
    /// The properties that copies share, behind one reference, because every request copies the interceptor.
    private final class Shared: Sendable {
        let store: any ResponseStore
        /// The store, if nothing in it has to be waited for.
        let memory: MemoryResponseStore?
        let revalidations = Revalidations()
        let originChanges = OriginChanges()

        init(_ store: any ResponseStore) {
            self.store = store
            memory = store as? MemoryResponseStore
        }
    }

    private let shared: Shared
    /// The store of the responses.
    public var store: any ResponseStore { shared.store }
    /// Whether the store is in memory: a disk would block the transport's thread.
    public var neverBlocks: Bool { shared.memory != nil }
    /// The origins that requests with unsafe methods have changed.
    var originChanges: OriginChanges { shared.originChanges }

    /// Whether stale responses are served, marked stale, if the server can't be reached, whatever the operation's
    /// policy except `networkOnly`. RFC 9111 (4.2.4) permits that unless the response must be validated. No by default:
    /// only operations with the policy `networkFirst`, and responses with `stale-if-error`, are.
    public let servesStaleOffline: Bool
    /// The time for which an operation with the policy `networkFirst` waits for the server if a response is stored; 5
    /// seconds by default. After it, the stored response is used, marked stale, and the server's is stored when it
    /// arrives. `nil` waits until the operation's deadline.
    public let networkWait: Duration?

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - store: The store of the responses; by default one in memory of at most 16 MiB.
    ///   - servesStaleOffline: Whether stale responses are served if the server can't be reached; no by default.
    ///   - networkWait: The time for which `networkFirst` waits for the server if a response is stored; 5 seconds
    ///     by default, and no limit if `nil`.
    public init(
        _ store: any ResponseStore = MemoryResponseStore(),
        servesStaleOffline: Bool = false,
        networkWait: Duration? = .seconds(5)
    ) {
        shared = Shared(store)
        self.servesStaleOffline = servesStaleOffline
        self.networkWait = networkWait
    }

    /// Applies to all operations except subscriptions, event streams, and requests that neither use nor change stored
    /// responses.
    public func applies(to operation: NetworkOperation) -> Bool {
        operation.responseKey != nil || operation.mayInvalidate
    }

    /// Responds from memory if the operation's policy allows it, and otherwise stores the network's response.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        guard isUsable(for: operation) else { return .proceed(nil) }
        guard let key = operation.responseKey else {
            return .proceed(InvalidatingObservation(self, operation, next))
        }
        guard let memory = store.memory else { return .wait }
        let lookup = CacheLookup(operation, key, memory, of: store)
        switch lookup.decision {
        case .hit(let stored), .staleWhileRevalidate(let stored):
            guard let result = lookup.result(stored) else { break }
            if case .staleWhileRevalidate = lookup.decision { revalidate(lookup, stored, next) }
            return .ending(with: next.outcome(of: next.used(result, for: operation), for: operation))
        case .unavailable where shared.memory != nil: return .ending(with: unavailable(operation, next))
        case .forward, .unavailable: break
        }
        // A disk may have more.
        guard shared.memory != nil, networkWait == nil || substitute(lookup) == nil else { return .wait }
        let observation = CacheObservation(self, &operation, lookup, next)
        return lookup.earlyResult.map { .emit(next.used($0, for: operation), observation) } ?? .proceed(observation)
    }

    /// Responds from the store if the operation's policy allows it, and otherwise stores the network's response.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard isUsable(for: operation) else { return try await next(operation, emit) }
        guard let key = operation.responseKey else {
            return try await next(operation, emit, observedBy: InvalidatingObservation(self, operation, next))
        }
        let lookup = await CacheLookup(operation, key, store)
        switch lookup.decision {
        case .hit(let stored), .staleWhileRevalidate(let stored):
            guard let result = lookup.result(stored) else { break }
            if case .staleWhileRevalidate = lookup.decision { revalidate(lookup, stored, next) }
            return try next.outcome(of: next.used(result, for: operation), for: operation).get()
        case .unavailable: return try unavailable(operation, next).get()
        case .forward: break
        }
        var operation = operation
        let observation = CacheObservation(self, &operation, lookup, next)
        if let networkWait, let stored = substitute(lookup) {
            return try await result(within: networkWait, orElse: stored, operation, emit, next, observation)
        }
        if let early = lookup.earlyResult { emit(next.used(early, for: operation)) }
        return try await next(operation, emit, observedBy: observation)
    }

    /// The stored response that is used if the server takes too long.
    private func substitute(_ lookup: CacheLookup) -> NetworkOperation.Result? {
        guard lookup.operation.policy == .networkFirst, let stored = lookup.forwarded.stored,
            stored.isUsable(at: lookup.now), var result = lookup.result(stored, isStale: true),
            !lookup.operation.refuses(result)
        else { return nil }
        result.note(lookup.forwarded.reason, isStale: true)
        return result
    }

    /// The server's result, or the stored one if the server takes too long; then the server's is stored later.
    nonisolated(nonsending) private func result(
        within limit: Duration,
        orElse stored: NetworkOperation.Result,
        _ operation: NetworkOperation,
        _ emit: @escaping Emit,
        _ next: Next,
        _ observation: CacheObservation
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let work = Task {
            await NetworkOperation.Outcome.catching { () throws(NetworkError) in
                try await next(operation, emit, observedBy: observation)
            }
        }
        let clock = operation.operationEnvironment.clock
        let first = Promise<NetworkOperation.Outcome>()
        let timer = Task {
            // It ends early if the server has responded.
            do { try await clock.sleep(for: limit) } catch { return }
            first.complete(.success(next.used(stored, for: operation)))
        }
        Task {
            let outcome = await work.value
            timer.cancel()
            first.complete(outcome)
        }
        return try await withTaskCancellationHandler {
            await first.value
        } onCancel: {
            work.cancel()
        }.get()
    }

    private func isUsable(for operation: NetworkOperation) -> Bool {
        if operation.hasKeyedPartition { return true }
        operation.log(PartitionMessage())
        return false
    }

    /// The failure of an operation that accepts stored responses only; 504 if its own `Cache-Control` said so (RFC
    /// 9111, 5.2.1.7).
    private func unavailable(_ operation: NetworkOperation, _ next: Next) -> NetworkOperation.Outcome {
        if operation.readsOnlyStore { return .failure(.notStored(operation, hasStore: true)) }
        let response = NetworkResponse(text: "no response is stored (only-if-cached)", status: .gatewayTimeout)
        return next.outcome(of: next.used(.init(response, from: .cache), for: operation), for: operation)
    }

    /// Validates a stored response in the background, unless that happens already.
    private func revalidate(_ lookup: CacheLookup, _ stored: StoredResponse, _ next: Next) {
        shared.revalidations.start(lookup.key) {
            var operation = lookup.operation.inNewRun()
            operation.policy = .networkOnly
            // The body of a stream would have no reader.
            operation.transfer.delivery = .collect
            let standard = TransferOptions()
            operation.transfer.options.maxBodyBytes = operation.transfer.options.maxBodyBytes ?? standard.maxBodyBytes
            operation.transfer.options.timeouts.total =
                operation.transfer.options.timeouts.total ?? standard.timeouts.total
            let observation = CacheObservation(self, &operation, lookup.validating(stored), next)
            let outcome = await NetworkOperation.Outcome.catching { [operation] () throws(NetworkError) in
                try await next(operation, { _ in }, observedBy: observation)
            }
            if case .failure(let error) = outcome { operation.log(RevalidationMessage(error: error)) }
        }
    }

    /// Waits for the validations that run in the background, for programs that end after one request.
    package func finishRevalidations() async { await shared.revalidations.finish() }
}

extension Pipeline.Decision {
    /// The decision to end an operation.
    fileprivate static func ending(with outcome: NetworkOperation.Outcome) -> Self {
        switch outcome {
        case .success(let result): .answer(result)
        case .failure(let error): .fail(error)
        }
    }
}

extension NetworkOperation.Kind {
    /// Whether the operation's policy counts: one response is all there is, and the kind isn't made for changes.
    var isStorable: Bool { self == .raw || isShared && self != .subscription }
}

extension NetworkOperation {
    /// Whether only a store may respond.
    var readsOnlyStore: Bool { policy == .cacheOnly && kind.isStorable && (kind != .raw || responseKey != nil) }

    /// Whether its response may make stored responses invalid.
    fileprivate var mayInvalidate: Bool {
        kind != .subscription && kind != .query && !CachePolicy.isSafe(transfer.head.method)
    }
}

extension NetworkError {
    /// The failure of an operation that accepts only stored responses and finds no acceptable one.
    ///
    /// - Parameter hasStore: Whether there is a cache.
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

/// Logged if an interceptor changes the partition.
private struct PartitionMessage: LogType {
    var category: String { "Cache" }
    var level: LogLevel { .warning }
    var message: String {
        "Cache bypassed: an interceptor changed the partition of the operation; "
            + "set the partition before running the operation"
    }
}
