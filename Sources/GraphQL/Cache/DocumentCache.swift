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
/// cache.follow(client)
/// ```
///
/// Responses contain their types if the endpoint has `addsTypenames` set. Pass types that a mutation changes without
/// mentioning them to `NetworkOperation.changedTypes` or to `invalidate`. (The rules are those of urql's document
/// cache.) The types of an incremental response take effect as its parts are read. Responses are stored as a whole; no
/// part of one is used for another.
///
/// While a mutation runs, its expectations replace the responses they concern, which are marked `.optimistic`. When the
/// mutation ends, whatever its outcome, they are removed and the actual responses are delivered.
public final class DocumentCache: Interceptor {
    /// `.requestPolicy`: above the interceptor that reads from the store.
    public var place: Pipeline.Place? { .requestPolicy }
    /// The store of responses.
    ///
    /// A `CacheInterceptor` must use the same store.
    public let store: any ResponseStore
    private let answers: Lock<KnownAnswers>
    /// The expectations of mutations that will be sent again in another message.
    private let standing = Lock<[ObjectIdentifier: Int]>([:])
    private let client = Lock<Follower>(Follower())

    private struct Follower {
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
        answers = Lock(KnownAnswers(limit: max(1, limit)))
    }

    /// Makes a client run its watched queries again when their responses become stale.
    ///
    /// The client is held weakly. If it is a wrapper, its inner `NetworkClientDefault` is used.
    public func follow(_ client: any NetworkClient) {
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
        guard operation.kind == .mutation else { return try await answer(operation, next, emit) }
        let id = if let id = standing(operation) { id } else { await expect(operation.expectations) }
        let outcome = await Result<NetworkOperation.Result, NetworkError>.catching { () throws(NetworkError) in
            try await next(operation, emit)
        }
        if operation.isRevised(after: outcome) {
            // The mutation was not executed.
            if let id { keep(id, for: operation) }
            return try outcome.get()
        }
        if let series = operation.series { standing.withLock { $0[ObjectIdentifier(series)] = nil } }
        let unexpected = id.map { id in answers.withLock { $0.forget(expectation: id) } } ?? []
        var stale: Set<NetworkOperation.Key> = []
        switch outcome {
        case .success(let result):
            if case .stream = result.content { operation.pieceTypes?.hear { [self] in await invalidate($0) } }
            stale = await forget(operation.changedTypes.union(result.response?.data.typenames ?? []))
        // If the mutation may have been executed, it may have changed these types.
        case .failure(let error): if error.mayHaveReachedServer { stale = await forget(operation.changedTypes) }
        }
        // If a stored response is stale too, subscribers must not receive it between the expected and the new response.
        refetch(unexpected.subtracting(stale), .cacheFirst)
        return try outcome.get()
    }

    /// Returns the expectation of an earlier message of the operation.
    private func standing(_ operation: NetworkOperation) -> Int? {
        operation.series.flatMap { series in standing.withLock { $0[ObjectIdentifier(series)] } }
    }

    /// Keeps an expectation until no further message of the operation is sent.
    private func keep(_ id: Int, for operation: NetworkOperation) {
        guard let series = operation.series else {
            return refetch(answers.withLock { $0.forget(expectation: id) }, .cacheFirst)
        }
        let place = ObjectIdentifier(series)
        standing.withLock { $0[place] = id }
        series.atEnd { [self] in
            standing.withLock { $0[place] = nil }
            refetch(answers.withLock { $0.forget(expectation: id) }, .cacheFirst)
        }
    }

    /// Removes stored responses with objects of these types, and requests them again if they are watched.
    public func invalidate(_ types: Set<String>) async {
        _ = await forget(types)
    }

    /// Removes stored responses with objects of these types, and requests them again if they are watched.
    ///
    /// - Returns: The keys of the removed responses.
    private func forget(_ types: Set<String>) async -> Set<NetworkOperation.Key> {
        if types.isEmpty { return [] }
        let stale = answers.withLock { $0.invalidate(types) }
        for operation in stale { await store.remove(operation) }
        let keys = Set(stale.compactMap(\.key))
        refetch(keys, .networkOnly)
        return keys
    }

    nonisolated(nonsending) private func answer(
        _ operation: NetworkOperation,
        _ next: Next,
        _ emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard let key = operation.key else { return try await next(operation, emit) }
        let (expected, time) = answers.withLock { ($0.expected(for: key), $0.time) }
        if let expected { return NetworkOperation.Result(.response(expected), from: .optimistic, isStale: true) }
        let result = try await next(operation, emit)
        let isTrue = await learn(result, of: operation, since: time)
        if isTrue || result.source != .cache || result.isStale { return result }
        // The response was stored before this cache existed, for example in an earlier run of the app, and a type in it
        // has changed since.
        let newer = try await next(operation, emit)
        _ = await learn(newer, of: operation, since: time)
        return newer
    }

    /// Records the types of a response.
    ///
    /// - Parameter time: The logical time of the request.
    /// - Returns: `false` if one of the types has changed since. The response is then removed from the store.
    nonisolated(nonsending) private func learn(
        _ result: NetworkOperation.Result,
        of operation: NetworkOperation,
        since time: Int
    ) async -> Bool {
        // A response without data has no types.
        guard let data = result.response?.data, data.isAnswerWithData else { return true }
        let types = data.typenames
        let (forgotten, isTrue) = answers.withLock { answers -> ([NetworkOperation], Bool) in
            // A stored response that isn't tracked may be older than all recorded changes.
            let isOfOld = result.source == .cache && !answers.knows(operation)
            let forgotten = answers.learn(operation, types, since: isOfOld ? 0 : time)
            return (forgotten, answers.knows(operation))
        }
        for operation in forgotten { await store.remove(operation) }
        return isTrue
    }

    /// Replaces stored responses by the expected ones.
    ///
    /// - Returns: The ID for removing the expectations, or `nil` if no stored response is affected.
    nonisolated(nonsending) private func expect(_ expectations: [GraphQLExpectation]) async -> Int? {
        var expected: [NetworkOperation.Key: NetworkResponse] = [:]
        for expectation in expectations {
            for operation in answers.withLock({ $0.operations { expectation.isMeant($0) } }) {
                guard let key = operation.key else { continue }
                let earlier = answers.withLock { $0.expected(for: key) }
                var stored = earlier
                if stored == nil { stored = await store.response(for: operation) }
                guard let stored, let changed = expectation.changed(stored) else { continue }
                expected[key] = changed
            }
        }
        if expected.isEmpty { return nil }
        let id = answers.withLock { $0.expect(expected) }
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
