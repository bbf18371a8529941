import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Exchanges put together: operations are sent in at the top, and results come out there, all in turns of one lane.
final class Ladder: Sendable {
    let lane: Lane
    private let operations: Rung<Operation>
    private let results = Standing()

    /// Registers the exchanges.
    ///
    /// - Parameters:
    ///   - exchanges: the first is on top.
    ///   - client: what they are given for a client.
    ///   - lane: where everything takes its turn.
    ///   - bottom: what is below the last.
    ///   - onResult: takes what comes out, in a turn.
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

    /// Sends an operation down. To be called in a turn.
    func send(_ operation: Operation) {
        operations.send(operation)
    }

    /// Ends all streams.
    func close() {
        results.cancel()
    }
}
