#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Several exchanges as one: operations go down through them in this order, results come up in the reverse.
///
/// Both streams between any two of them are shared, so that nothing is done twice, and everything runs in turns.
public struct ComposeExchange: Exchange {
    private let exchanges: [any Exchange]

    /// Puts exchanges together.
    ///
    /// - Parameter exchanges: the first is on top.
    public init(exchanges: [any Exchange]) {
        self.exchanges = exchanges
    }

    /// Hooks them into the streams, the last first.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        register(client: client, operations: operations, next: next, in: Lane())
    }

    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO,
        in lane: Lane
    ) -> AnyPublisher<OperationResult, Never> {
        let ladder = exchanges.reversed().reduce(next) { next, exchange in
            { operations in
                let operations = Rung(operations, in: lane).publisher
                let results = exchange.register(client: client, operations: operations, next: next)
                return Rung(results, in: lane).publisher
            }
        }
        return ladder(operations)
    }
}
