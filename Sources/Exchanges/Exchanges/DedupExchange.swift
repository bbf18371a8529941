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
        register(operations: operations, next: next, active: Lock(Active()))
    }

    /// What is on its way.
    struct Active: Sendable {
        /// What keeps others back, by id.
        var ids: Set<String> = []
        /// How many pass beside it that ask nobody, by id.
        var readings: [String: Int] = [:]

        mutating func endReading(_ id: String) {
            guard let count = readings[id] else { return }
            readings[id] = count > 1 ? count - 1 : nil
        }

        /// A result has come, which says itself whose it is, unless an exchange below has changed the policy.
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
