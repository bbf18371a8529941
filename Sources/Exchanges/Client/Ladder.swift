import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// A chain of exchanges: operations enter at the top, and results leave there, all on one serial queue.
final class Ladder: Sendable {
    let lane: Lane
    private let operations: Rung<Operation>
    private let results = Standing()

    /// Creates a chain and registers the exchanges.
    ///
    /// - Parameters:
    ///   - exchanges: The exchanges. The first is at the top.
    ///   - client: The client that is passed to the exchanges.
    ///   - lane: The serial queue for operations and results.
    ///   - bottom: The end of the chain, below the last exchange.
    ///   - onResult: Receives each result that leaves the chain, on the serial queue.
    init(
        _ exchanges: [any Exchange],
        client: any GraphQLClient,
        in lane: Lane,
        bottom: @escaping ExchangeIO,
        onResult: @escaping (OperationResult) -> Void
    ) {
        self.lane = lane
        let operations = Rung<Operation>(in: lane)
        self.operations = operations
        ComposeExchange(exchanges: exchanges)
            .register(client: client, operations: operations.publisher, next: bottom, in: lane)
            .listen(
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
