import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Exchanges put together: operations are sent in at the top, and results come out there, all in turns of one lane.
///
/// `@unchecked Sendable` is sound because the only subscription is cancelled, by whoever closes the ladder, and nothing else
/// is done with it; what goes through it goes in turns.
final class Ladder: @unchecked Sendable {
    let lane: Lane
    private let operations: Rung<Operation>
    private let results: AnyCancellable

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
        in lane: Lane = Lane(),
        bottom: @escaping ExchangeIO,
        onResult: @escaping (OperationResult) -> Void
    ) {
        self.lane = lane
        let operations = Rung<Operation>(in: lane)
        self.operations = operations
        results = ComposeExchange(exchanges: exchanges)
            .register(client: client, operations: operations.eraseToAnyPublisher(), next: bottom, in: lane)
            .sink(
                receiveCompletion: { [logger = client.logger] _ in
                    logger.log(ExchangeLog("an exchange has ended its results: nothing is answered any more", .error))
                },
                receiveValue: onResult
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
