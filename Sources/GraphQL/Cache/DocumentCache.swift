public import BeagleNet
import BeagleNetHTTP

/// Keeps stored query responses up to date: a mutation invalidates those with objects of the types in its own response,
/// and watched queries are requested again.
///
/// ```swift
/// let cache = DocumentCache()
/// dependencies.interceptors.add(cache)
/// dependencies.interceptors.add(CacheInterceptor(cache.store))
/// let client = NetworkClientDefault(dependencies: dependencies)
/// cache.attach(to: client)
/// ```
///
/// Responses contain their types if the endpoint has `addsTypenames` set. Pass types that a mutation changes without
/// mentioning them to `NetworkOperation.changedTypes` or to `invalidate`. (The rules are those of urql's document
/// cache.) The types of an incremental response take effect as its parts are read. Responses are stored as a whole; no
/// part of one is used for another.
///
/// While a mutation runs, its optimistic updates replace the responses they concern, which are marked `.optimistic`.
/// When the mutation ends, whatever its outcome, they are removed and the actual responses are delivered.
public final class DocumentCache: Interceptor {
    /// `.requestPolicy`: above the interceptor that reads from the store.
    public var place: Pipeline.Place? { .requestPolicy }
    /// The store of responses.
    ///
    /// A `CacheInterceptor` must use the same store.
    public let store: any ResponseStore
    private let responses: Lock<TrackedResponses>
    /// The optimistic updates of mutations that will be sent again in another message.
    private let pendingUpdates = Lock<[ObjectIdentifier: Int]>([:])
    private let client = Lock<WeakClient>(WeakClient())

    private struct WeakClient {
        weak var client: NetworkClientDefault?
    }

    /// Creates a cache over a store.
    ///
    /// - Parameters:
    ///   - store: The store of responses; by default, in memory with a maximum of 16 MiB.
    ///   - limit: The maximum number of tracked queries, above 0; 1,000 by default. When a query is no longer tracked,
    ///     its response is removed from the store.
    public init(_ store: any ResponseStore = MemoryResponseStore(), limit: Int = 1000) {
        self.store = store
        responses = Lock(TrackedResponses(limit: max(1, limit)))
    }

    /// Makes a client run its watched queries again when their responses become stale.
    ///
    /// The client is held weakly. If it is a wrapper, its inner `NetworkClientDefault` is used.
    public func attach(to client: any NetworkClient) {
        self.client.withLock { $0.client = client.innermost }
    }

    /// Applies to queries and mutations.
    public func applies(to operation: NetworkOperation) -> Bool {
        operation.kind == .query ? operation.key != nil : operation.kind == .mutation
    }

    /// Records the types of a query's response, or invalidates responses after a mutation.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard operation.kind == .mutation else { return try await query(operation, next, emit) }
        let id =
            if let id = pendingUpdate(of: operation) { id } else { await applyUpdates(operation.optimisticUpdates) }
        let outcome = await Result<NetworkOperation.Result, NetworkError>.catching { () throws(NetworkError) in
            try await next(operation, emit)
        }
        if operation.isRevised(after: outcome) {
            // The mutation was not executed.
            if let id { keepUpdate(id, for: operation) }
            return try outcome.get()
        }
        if let series = operation.series { pendingUpdates.withLock { $0[ObjectIdentifier(series)] = nil } }
        let unexpected = id.map { id in responses.withLock { $0.removeUpdate(withID: id) } } ?? []
        var stale: Set<NetworkOperation.Key> = []
        switch outcome {
        case .success(let result):
            if case .stream = result.content {
                operation.incrementalTypes?.subscribe { [self] in await invalidate($0) }
            }
            stale = await removeStored(operation.changedTypes.union(result.response?.data.typenames ?? []))
        // If the mutation may have been executed, it may have changed these types.
        case .failure(let error): if error.mayHaveReachedServer { stale = await removeStored(operation.changedTypes) }
        }
        // If a stored response is stale too, subscribers must not receive it between the expected and the new response.
        refetch(unexpected.subtracting(stale), .cacheFirst)
        return try outcome.get()
    }

    /// Returns the optimistic update of an earlier message of the operation.
    private func pendingUpdate(of operation: NetworkOperation) -> Int? {
        operation.series.flatMap { series in pendingUpdates.withLock { $0[ObjectIdentifier(series)] } }
    }

    /// Keeps an optimistic update until no further message of the operation is sent.
    private func keepUpdate(_ id: Int, for operation: NetworkOperation) {
        guard let series = operation.series else {
            return refetch(responses.withLock { $0.removeUpdate(withID: id) }, .cacheFirst)
        }
        let seriesID = ObjectIdentifier(series)
        pendingUpdates.withLock { $0[seriesID] = id }
        series.onEnd { [self] in
            pendingUpdates.withLock { $0[seriesID] = nil }
            refetch(responses.withLock { $0.removeUpdate(withID: id) }, .cacheFirst)
        }
    }

    /// Removes stored responses with objects of these types, and requests them again if they are watched.
    public func invalidate(_ types: Set<String>) async {
        _ = await removeStored(types)
    }

    /// Removes stored responses with objects of these types, and requests them again if they are watched.
    ///
    /// - Returns: The keys of the removed responses.
    private func removeStored(_ types: Set<String>) async -> Set<NetworkOperation.Key> {
        if types.isEmpty { return [] }
        let stale = responses.withLock { $0.invalidate(types) }
        for operation in stale { await store.remove(operation) }
        let keys = Set(stale.compactMap(\.key))
        refetch(keys, .networkOnly)
        return keys
    }

    nonisolated(nonsending) private func query(
        _ operation: NetworkOperation,
        _ next: Next,
        _ emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard let key = operation.key else { return try await next(operation, emit) }
        let (expected, time) = responses.withLock { ($0.optimisticResponse(for: key), $0.time) }
        if let expected { return NetworkOperation.Result(.response(expected), from: .optimistic, isStale: true) }
        let result = try await next(operation, emit)
        let isCurrent = await record(result, of: operation, since: time)
        if isCurrent || result.source != .cache || result.isStale { return result }
        // The response was stored before this cache existed, for example in an earlier run of the app, and a type in it
        // has changed since.
        let newer = try await next(operation, emit)
        _ = await record(newer, of: operation, since: time)
        return newer
    }

    /// Records the types of a response.
    ///
    /// - Parameter time: The logical time of the request.
    /// - Returns: `false` if one of the types has changed since. The response is then removed from the store.
    nonisolated(nonsending) private func record(
        _ result: NetworkOperation.Result,
        of operation: NetworkOperation,
        since time: Int
    ) async -> Bool {
        // A response without data has no types.
        guard let data = result.response?.data, data.isResponseWithData else { return true }
        let types = data.typenames
        let (removed, isCurrent) = responses.withLock { responses -> ([NetworkOperation], Bool) in
            // A stored response that isn't tracked may be older than all recorded changes.
            let isUntrackedStored = result.source == .cache && !responses.isTracked(operation)
            let removed = responses.record(operation, types, since: isUntrackedStored ? 0 : time)
            return (removed, responses.isTracked(operation))
        }
        for operation in removed { await store.remove(operation) }
        return isCurrent
    }

    /// Replaces stored responses by the expected ones.
    ///
    /// - Returns: The ID for removing the optimistic updates, or `nil` if no stored response is affected.
    nonisolated(nonsending) private func applyUpdates(_ updates: [OptimisticUpdate]) async -> Int? {
        var expected: [NetworkOperation.Key: NetworkResponse] = [:]
        for update in updates {
            for operation in responses.withLock({ $0.operations { update.matches($0) } }) {
                guard let key = operation.key else { continue }
                let earlier = responses.withLock { $0.optimisticResponse(for: key) }
                var stored = earlier
                if stored == nil { stored = await store.response(for: operation) }
                guard let stored, let changed = update.applied(to: stored) else { continue }
                expected[key] = changed
            }
        }
        if expected.isEmpty { return nil }
        let id = responses.withLock { $0.addUpdate(expected) }
        refetch(Set(expected.keys), .cacheFirst)
        return id
    }

    private func refetch(_ keys: Set<NetworkOperation.Key>, _ policy: RequestPolicy) {
        if keys.isEmpty { return }
        client.withLock { $0.client }?.refetch(policy, afterRun: true) { operation in
            operation.key.map(keys.contains) ?? false
        }
    }
}

extension ResponseStore {
    /// The latest stored response to a query.
    nonisolated(nonsending) fileprivate func response(for operation: NetworkOperation) async -> NetworkResponse? {
        guard let key = operation.responseKey else { return nil }
        return await responses(for: key).max { $0.responseTime < $1.responseTime }.map {
            NetworkResponse(data: $0.body, response: $0.head, url: $0.url, trailers: $0.trailers)
        }
    }

    nonisolated(nonsending) fileprivate func remove(_ operation: NetworkOperation) async {
        if let key = operation.responseKey { await remove(key) }
    }
}
