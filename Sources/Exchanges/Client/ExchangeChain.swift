import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// A chain of exchanges: operations enter at the top, and results leave there, all on one serial queue.
final class ExchangeChain: Sendable {
    let queue: SerialQueue
    private let operations: SharedStream<Operation>
    private let results = SubscriptionSet()

    /// Creates a chain and registers the exchanges.
    ///
    /// - Parameters:
    ///   - exchanges: The exchanges. The first is at the top.
    ///   - client: The client that is passed to the exchanges.
    ///   - queue: The serial queue for operations and results.
    ///   - bottom: The end of the chain, below the last exchange.
    ///   - onResult: Receives each result that leaves the chain, on the serial queue.
    init(
        _ exchanges: [any Exchange],
        client: any GraphQLClient,
        in queue: SerialQueue,
        bottom: @escaping ExchangeIO,
        onResult: @escaping (OperationResult) -> Void
    ) {
        self.queue = queue
        let operations = SharedStream<Operation>(in: queue)
        self.operations = operations
        ComposeExchange(exchanges: exchanges)
            .register(client: client, operations: operations.publisher, next: bottom, in: queue)
            .sink(
                results,
                onEnd: { [logger = client.logger] in
                    logger.log(
                        ExchangeLog("an exchange ended its stream of results: operations get no more results", .error)
                    )
                },
                onValue: onResult
            )
    }

    /// Sends an operation down. Must be called on the serial queue.
    func send(_ operation: Operation) {
        operations.send(operation)
    }

    /// Cancels all streams.
    func close() {
        results.cancel()
    }
}
