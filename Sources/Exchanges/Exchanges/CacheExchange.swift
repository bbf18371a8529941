import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// An exchange that answers queries from stored results.
///
/// It stores whole results, and doesn't normalize them.
///
/// | policy | stored | not stored |
/// |---|---|---|
/// | `cacheFirst` | the stored result | the network's |
/// | `cacheOnly` | the stored result | a result without data |
/// | `networkOnly` | the network's | the network's |
/// | `cacheAndNetwork` | the stored result, marked stale, then the network's | the network's |
///
/// A query's result is stored if it has data, no errors, and no more results after it. The result of a mutation, and
/// each result of a subscription, invalidates all stored queries that share a type with it. Their results are removed,
/// and queries with subscribers run again. The types are those of `Operation.types` and those that results name in
/// `__typename`. A query whose only subscribers use `cacheOnly` isn't sent to the network; they get a result without
/// data. Mutations and subscriptions are never answered from the store.
///
/// A query in flight that shares a type with such a result may have read outdated data. Its result is marked stale and
/// isn't stored, and the query runs again, once.
///
/// Use a cache with one client only, because it runs that client's queries again and counts its subscribers. With two
/// clients, both use all stored results, but a mutation of one doesn't run queries of the other again.
///
/// Results are stored by the `id` of their operation, which is computed before exchanges change the request. A token
/// that an `AuthExchange` adds isn't part of it. When the user changes, call `clear()`, or create a new client with a
/// new cache.
public final class CacheExchange: Exchange, Sendable {
    let store: Lock<ResultStore>

    /// Creates a cache.
    ///
    /// - Parameter limit: The maximum number of stored results, above 0. The default is 1,000. After that, the least
    ///   recently used result is removed.
    public init(limit: Int = 1_000) {
        store = Lock(ResultStore(limit: max(1, limit)))
    }

    /// Removes all stored results.
    public func clear() {
        let removed = store.withLock { $0.clear() }
        withExtendedLifetime(removed) {}
    }

    /// The number of stored results.
    public var count: Int { store.withLock { $0.count } }

    /// Connects the exchange to the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        ForwardingPublisher(
            operations,
            next,
            onResult: { [self] result in receive(result, client) },
            onOperation: { [self] operation, outputs in decide(operation, outputs) }
        )
        .eraseToAnyPublisher()
    }

    private func decide(_ operation: Operation, _ outputs: ForwardingPublisher.Outputs) {
        switch operation.kind {
        case .mutation, .subscription: return outputs.forward(operation)
        case .teardown:
            store.withLock { $0.deactivate(operation.id) }
            return outputs.forward(operation)
        case .query: break
        }
        var stored = store.withLock { $0.result(for: operation) }
        stored?.operation = operation
        switch (operation.policy, stored) {
        case (.cacheOnly, let stored): outputs.answer(stored ?? OperationResult(operation: operation, data: nil))
        case (.cacheFirst, let stored?): outputs.answer(stored)
        case (.cacheAndNetwork, var stored?):
            stored.stale = true
            outputs.answer(stored)
            send(operation, outputs)
        case (.networkOnly, _), (_, nil): send(operation, outputs)
        }
    }

    private func send(_ operation: Operation, _ outputs: ForwardingPublisher.Outputs) {
        store.withLock { $0.markSent(operation.id) }
        outputs.forward(operation)
    }

    /// - Returns: The result to pass on.
    private func receive(_ result: OperationResult, _ client: any GraphQLClient) -> OperationResult {
        switch result.operation.kind {
        case .query:
            guard result.isSettled else { return result }
            let (id, types) = (result.id, result.types)
            let isOutdated = store.withLock { $0.markAnswered(id, types) }
            guard result.error == nil else { return result }
            if isOutdated {
                // The original operation. The result's operation includes changes of the exchanges below, such as a
                // token.
                guard let operation = store.withLock({ $0.queryToRepeat(for: id) }) else { return result }
                client.reexecute(operation: operation.with(policy: .networkOnly))
                var outdated = result
                outdated.stale = true
                return outdated
            }
            // A GraphQL response without errors must have data. A result with neither isn't a response.
            if result.data == .null, result.hosted?.isGraphQL != false { return result }
            let removed = store.withLock { $0.put(result, of: types) }
            withExtendedLifetime(removed) {}
        case .mutation:
            if result.isSettled { invalidate(result.types, client) }
        case .subscription:
            // If nothing is stored or in flight, the data needn't be read.
            if result.stale != true, !store.withLock({ $0.isEmpty }) { invalidate(result.types, client) }
        case .teardown: break
        }
        return result
    }

    /// Removes the stored results that contain one of these types, and runs active queries again.
    private func invalidate(_ types: Set<String>, _ client: any GraphQLClient) {
        for operation in store.withLock({ $0.invalidate(types) }) {
            client.reexecute(operation: operation.isCacheOnlyQuery ? operation : operation.with(policy: .networkOnly))
        }
    }
}

extension OperationResult {
    /// The names of the types in the result, as far as they are known.
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
