import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// An exchange that drops a query or subscription if an operation with the same `id` is already in flight.
///
/// All subscribers receive the results of the one in flight.
///
/// A result ends the wait for its `id`, unless more results follow. A teardown does so too. Mutations are never
/// dropped, nor are `cacheOnly` queries, which don't use the network and must not wait for a request.
public struct DedupExchange: Exchange {
    /// Creates an exchange that drops duplicate operations.
    public init() {}

    /// Connects the exchange to the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        register(operations: operations, next: next, active: Lock(Active()))
    }

    /// The operations in flight.
    struct Active: Sendable {
        /// The ids of operations whose duplicates are dropped.
        var ids: Set<String> = []
        /// The number of `cacheOnly` queries in flight, by id.
        var cacheOnlyCounts: [String: Int] = [:]

        mutating func endCacheOnly(_ id: String) {
            guard let count = cacheOnlyCounts[id] else { return }
            cacheOnlyCounts[id] = count > 1 ? count - 1 : nil
        }

        /// Handles a result. Its operation says which kind of query it answers, unless an exchange below has changed
        /// the policy.
        mutating func receive(_ operation: Operation) {
            let id = operation.id
            if operation.isCacheOnlyQuery, cacheOnlyCounts[id] != nil { return endCacheOnly(id) }
            if ids.remove(id) == nil { endCacheOnly(id) }
        }

        mutating func teardown(_ id: String) {
            ids.remove(id)
            cacheOnlyCounts[id] = nil
        }
    }

    func register(
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO,
        active: Lock<Active>
    ) -> AnyPublisher<OperationResult, Never> {
        ForwardingPublisher(
            operations,
            next,
            onResult: { result in
                if result.hasNext != true { active.withLock { $0.receive(result.operation) } }
                return result
            },
            onOperation: { operation, outputs in
                switch operation.kind {
                case .mutation: break
                case .query where operation.isCacheOnlyQuery:
                    active.withLock { $0.cacheOnlyCounts[operation.id, default: 0] += 1 }
                case .teardown: active.withLock { $0.teardown(operation.id) }
                case .query, .subscription:
                    guard active.withLock({ $0.ids.insert(operation.id).inserted }) else { return }
                }
                outputs.forward(operation)
            }
        )
        .eraseToAnyPublisher()
    }
}
