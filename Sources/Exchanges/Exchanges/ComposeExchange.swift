#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// An exchange that combines several exchanges.
///
/// Operations pass through them in order, and results in reverse order.
///
/// Both streams between two exchanges are shared, so that no work is done twice, and operations and results are
/// processed one at a time.
public struct ComposeExchange: Exchange {
    private let exchanges: [any Exchange]

    /// Creates an exchange from several exchanges.
    ///
    /// - Parameter exchanges: The exchanges. The first is at the top.
    public init(exchanges: [any Exchange]) {
        self.exchanges = exchanges
    }

    /// Connects the exchanges to the streams, the last one first.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        register(client: client, operations: operations, next: next, in: SerialQueue())
    }

    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO,
        in queue: SerialQueue
    ) -> AnyPublisher<OperationResult, Never> {
        let chain = exchanges.reversed().reduce(next) { next, exchange in
            { operations in
                let operations = SharedStream(operations, in: queue).publisher
                let results = exchange.register(client: client, operations: operations, next: next)
                return SharedStream(results, in: queue).publisher
            }
        }
        return chain(operations)
    }
}
