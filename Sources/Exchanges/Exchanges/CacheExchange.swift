import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Answers queries from results that it has seen: a cache of whole documents.
///
/// | policy | stored | not stored |
/// |---|---|---|
/// | `cacheFirst` | the stored result | the network's |
/// | `cacheOnly` | the stored result | a result without data |
/// | `networkOnly` | the network's | the network's |
/// | `cacheAndNetwork` | the stored result, marked stale, then the network's | the network's |
///
/// Results of queries are stored that have data, no error, and nothing to follow. The result of a mutation, and each of a
/// subscription, makes those queries stale that have a type in common with it: they are forgotten, and run again if somebody
/// waits for them. The types are those of `Operation.types` and those that results name in `__typename`. Who waits for
/// `cacheOnly` alone has nobody asked: it hears that nothing is stored. Mutations and subscriptions are never answered.
///
/// A query of such a type that was under way then may have read what was before: its result is stale, is not stored, and it is
/// run again, once.
///
/// It belongs to one client, whose queries it has run again, and whose listeners it counts. Given to two, both answer from what
/// either stored, and a mutation has no queries of the other run again.
///
/// Results are stored by the `id` of their operation, which is made of the request before exchanges change it: a token that an
/// `AuthExchange` adds is not in it. After a change of user call `clear()`, or make a new client with a new cache.
public final class CacheExchange: Exchange, Sendable {
    let store: Lock<ResultStore>

    /// A cache.
    ///
    /// - Parameter limit: how many results are stored at most, above 0; 1,000 by default. Then the one that was used longest
    ///   ago makes room.
    public init(limit: Int = 1_000) {
        store = Lock(ResultStore(limit: max(1, limit)))
    }

    /// Forgets what is stored.
    public func clear() {
        let forgotten = store.withLock { $0.clear() }
        withExtendedLifetime(forgotten) {}
    }

    /// How many results are stored.
    public var count: Int { store.withLock { $0.count } }

    /// Hooks it into the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        Fork(
            operations,
            next,
            onResult: { [self] result in take(result, client) },
            onOperation: { [self] operation, ways in decide(operation, ways) }
        )
        .eraseToAnyPublisher()
    }

    private func decide(_ operation: Operation, _ ways: Fork.Ways) {
        switch operation.kind {
        case .mutation, .subscription: return ways.forward(operation)
        case .teardown:
            store.withLock { $0.leave(operation.id) }
            return ways.forward(operation)
        case .query: break
        }
        var stored = store.withLock { $0.result(for: operation) }
        stored?.operation = operation
        switch (operation.policy, stored) {
        case (.cacheOnly, let stored): ways.answer(stored ?? OperationResult(operation: operation, data: nil))
        case (.cacheFirst, let stored?): ways.answer(stored)
        case (.cacheAndNetwork, var stored?):
            stored.stale = true
            ways.answer(stored)
            send(operation, ways)
        case (.networkOnly, _), (_, nil): send(operation, ways)
        }
    }

    private func send(_ operation: Operation, _ ways: Fork.Ways) {
        store.withLock { $0.send(operation.id) }
        ways.forward(operation)
    }

    /// - Returns: the result as it goes on.
    private func take(_ result: OperationResult, _ client: any GraphQLClient) -> OperationResult {
        switch result.operation.kind {
        case .query:
            guard result.isSettled else { return result }
            let (id, types) = (result.id, result.types)
            let isOutdated = store.withLock { $0.land(id, types) }
            guard result.error == nil else { return result }
            if isOutdated {
                // As it was asked: the result's has what exchanges below made of it, a token too.
                guard let operation = store.withLock({ $0.repetition(of: id) }) else { return result }
                client.reexecute(operation: operation.with(policy: .networkOnly))
                var outdated = result
                outdated.stale = true
                return outdated
            }
            // Where the server says nothing of errors it has data: what has neither is no answer.
            if result.data == .null, result.hosted?.isGraphQL != false { return result }
            let forgotten = store.withLock { $0.put(result, of: types) }
            withExtendedLifetime(forgotten) {}
        case .mutation:
            if result.isSettled { forget(result.types, client) }
        case .subscription:
            // Where nothing is stored or under way its data need not be read.
            if result.stale != true, !store.withLock({ $0.isEmpty }) { forget(result.types, client) }
        case .teardown: break
        }
        return result
    }

    /// Results that are made of these types are not what the server has any more.
    private func forget(_ types: Set<String>, _ client: any GraphQLClient) {
        for operation in store.withLock({ $0.forget(types) }) {
            client.reexecute(operation: operation.isReading ? operation : operation.with(policy: .networkOnly))
        }
    }
}

extension OperationResult {
    /// The names of the types that it is made of, as far as they are known.
    fileprivate var types: Set<String> {
        var types = Set(operation.types)
        data.gatherTypenames(into: &types)
        return types
    }
}

extension JSONValue {
    fileprivate func gatherTypenames(into types: inout Set<String>) {
        switch self {
        case .object(let members):
            if let name = members["__typename"]?.string { types.insert(name) }
            for member in members.values { member.gatherTypenames(into: &types) }
        case .array(let elements):
            for element in elements { element.gatherTypenames(into: &types) }
        default: break
        }
    }
}
