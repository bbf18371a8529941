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
        var readings: [String: Int] = [:]

        mutating func endReading(_ id: String) {
            guard let count = readings[id] else { return }
            readings[id] = count > 1 ? count - 1 : nil
        }

        /// Handles a result. Its operation says which kind of query it answers, unless an exchange below has changed
        /// the policy.
        mutating func land(_ operation: Operation) {
            let id = operation.id
            if operation.isReading, readings[id] != nil { return endReading(id) }
            if ids.remove(id) == nil { endReading(id) }
        }

        mutating func teardown(_ id: String) {
            ids.remove(id)
            readings[id] = nil
        }
    }

    func register(
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO,
        active: Lock<Active>
    ) -> AnyPublisher<OperationResult, Never> {
        Fork(
            operations,
            next,
            onResult: { result in
                if result.hasNext != true { active.withLock { $0.land(result.operation) } }
                return result
            },
            onOperation: { operation, ways in
                switch operation.kind {
                case .mutation: break
                case .query where operation.isReading: active.withLock { $0.readings[operation.id, default: 0] += 1 }
                case .teardown: active.withLock { $0.teardown(operation.id) }
                case .query, .subscription:
                    guard active.withLock({ $0.ids.insert(operation.id).inserted }) else { return }
                }
                ways.forward(operation)
            }
        )
        .eraseToAnyPublisher()
    }
}
