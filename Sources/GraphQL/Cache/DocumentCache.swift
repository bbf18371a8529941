public import BeagleNet
import BeagleNetHTTP

/// Keeps stored answers to queries true: a mutation makes those stale that hold objects of the types in its answer, and they
/// are asked for again where they are watched.
///
/// ```swift
/// let cache = DocumentCache()
/// dependencies.interceptors.add(cache)
/// dependencies.interceptors.add(CacheInterceptor(cache.store))
/// let client = NetworkClientDefault(dependencies: dependencies)
/// cache.follow(client)
/// ```
///
/// Answers tell their types where the endpoint `addsTypenames`. What a mutation changes without saying so is named in
/// `NetworkOperation.changedTypes`, or to `invalidate`. (The rules are those of urql's document cache.) The types in an answer
/// that comes in pieces count as they are read. Answers are whole documents: nothing of one is taken for another.
///
/// Until a mutation is done, its expectations stand for the answers that they are about, marked `.optimistic`; whatever
/// comes of it, they go then, and what is true is given.
public final class DocumentCache: Interceptor {
    /// `.requestPolicy`: above what answers from the store.
    public var place: Pipeline.Place? { .requestPolicy }
    /// Where answers are kept; a `CacheInterceptor` has to use the same.
    public let store: any ResponseStore
    private let answers: Lock<KnownAnswers>
    /// What is expected of mutations on whose message another follows.
    private let standing = Lock<[ObjectIdentifier: Int]>([:])
    private let client = Lock<Follower>(Follower())

    private struct Follower {
        weak var client: NetworkClientDefault?
    }

    /// A cache over a store.
    ///
    /// - Parameters:
    ///   - store: where answers are kept; in memory, 16 MiB at most, by default.
    ///   - limit: how many queries are known at once, above 0; 1,000 by default. What is no longer known is no longer stored.
    public init(_ store: any ResponseStore = MemoryResponseStore(), limit: Int = 1000) {
        self.store = store
        answers = Lock(KnownAnswers(limit: max(1, limit)))
    }

    /// Has this client run again what it watches when an answer is no longer true. The client is not kept alive by it; of a
    /// wrapper it is the `NetworkClientDefault` inside.
    public func follow(_ client: any NetworkClient) {
        self.client.withLock { $0.client = client.innermost }
    }

    /// With queries and mutations.
    public func applies(to operation: NetworkOperation) -> Bool {
        operation.kind == .query ? operation.key != nil : operation.kind == .mutation
    }

    /// Learns of which types an answer is, and what a mutation changes.
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
            // It has not been done.
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
        // What may have been done may have changed them.
        case .failure(let error): if error.mayHaveReachedServer { stale = await forget(operation.changedTypes) }
        }
        // Where what is stored is no longer true, nobody is to hear it between what was expected and what is.
        refetch(unexpected.subtracting(stale), .cacheFirst)
        return try outcome.get()
    }

    /// What is expected since an earlier message of the operation.
    private func standing(_ operation: NetworkOperation) -> Int? {
        operation.series.flatMap { series in standing.withLock { $0[ObjectIdentifier(series)] } }
    }

    /// Lets an expectation stand until no message of the operation follows.
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

    /// Makes stored answers stale that hold objects of these types, and has those asked for again that are watched.
    public func invalidate(_ types: Set<String>) async {
        _ = await forget(types)
    }

    /// The same.
    ///
    /// - Returns: which were stale.
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
        // It was stored before this cache was there, as in an earlier run of the app, and something of it was changed since.
        let newer = try await next(operation, emit)
        _ = await learn(newer, of: operation, since: time)
        return newer
    }

    /// Notes the types of an answer.
    ///
    /// - Parameter time: when it was asked for.
    /// - Returns: false where something of it was changed since; then it is no longer stored.
    nonisolated(nonsending) private func learn(
        _ result: NetworkOperation.Result,
        of operation: NetworkOperation,
        since time: Int
    ) async -> Bool {
        // What tells of no data tells nothing of its types.
        guard let data = result.response?.data, data.isAnswerWithData else { return true }
        let types = data.typenames
        let (forgotten, isTrue) = answers.withLock { answers -> ([NetworkOperation], Bool) in
            // What is stored and not known may be older than all that is remembered.
            let isOfOld = result.source == .cache && !answers.knows(operation)
            let forgotten = answers.learn(operation, types, since: isOfOld ? 0 : time)
            return (forgotten, answers.knows(operation))
        }
        for operation in forgotten { await store.remove(operation) }
        return isTrue
    }

    /// Puts in the place of stored answers what they will probably be.
    ///
    /// - Returns: by what they are taken away again; nil where there is nothing stored that they are about.
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
