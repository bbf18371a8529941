import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Keeps back what is asked for already: a query or subscription whose `id` is on its way down or being answered. All who
/// asked hear what comes.
///
/// A result clears the way for the next of its `id`, unless it says that more is to come; so does a teardown. Mutations
/// always pass, and so does what is `cacheOnly`: it asks nobody, and must not wait for who does.
public struct DedupExchange: Exchange {
    /// An exchange that keeps back what is asked for already.
    public init() {}

    /// Hooks it into the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        register(operations: operations, next: next, active: Lock([]))
    }

    /// - Parameter active: the ids of what is on its way.
    func register(
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO,
        active: Lock<Set<String>>
    ) -> AnyPublisher<OperationResult, Never> {
        Fork(
            operations,
            next,
            onResult: { result in
                if result.hasNext != true, !result.operation.isReading {
                    _ = active.withLock { $0.remove(result.operation.id) }
                }
                return result
            },
            onOperation: { operation, ways in
                switch operation.kind {
                case .mutation: break
                case .query where operation.isReading: break
                case .teardown: _ = active.withLock { $0.remove(operation.id) }
                case .query, .subscription:
                    guard active.withLock({ $0.insert(operation.id).inserted }) else { return }
                }
                ways.forward(operation)
            }
        )
        .eraseToAnyPublisher()
    }
}
