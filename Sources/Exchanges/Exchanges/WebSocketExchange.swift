public import BeagleNet
public import BeagleNetGraphQL
import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Answers subscriptions: runs them with a client of ours, over a WebSocket that all operations of the exchange share which
/// have the same URL and header fields, or in another way that the server knows. Queries, mutations and teardowns go on down.
///
/// Lost connections are asked for again by the client's pipeline (`RetryInterceptor.subscriptionBackoff`).
///
/// A failure is the last result: an `InterceptorExchange` above it may ask again.
///
/// When the server ends a subscription, it is ended for who listens; the same may be subscribed to again. A teardown cancels
/// it.
public struct WebSocketExchange: Exchange, Sendable {
    /// Performs a subscription, with parameters that are for the origin of `home`: gives what comes, returns when the server
    /// ended it, and throws why it ended otherwise.
    typealias Subscribe =
        @Sendable (
            _ operation: Operation,
            _ home: URL?,
            _ emit: @escaping @Sendable (OperationResult) -> Void
        ) async throws -> Void

    private let handleAllOperations: Bool
    private let subscribe: Subscribe

    /// An exchange that performs subscriptions.
    ///
    /// - Parameters:
    ///   - client: who performs them; the client of `Beagle.dependencies`, as it is then, where nil.
    ///   - transports: how they go, the best first; a WebSocket by default. Its `parameters` go to the origin of the client's
    ///     request alone, and to those that the one who performs declares, wherever operations go.
    ///   - handleAllOperations: whether it performs queries and mutations too. No by default.
    ///   - maxMessageBytes: the most bytes that one message may have; above 0. A larger one ends its connection with an error of
    ///     kind `.tooLarge`. 16 MiB by default, as `GraphQLEndpoint.maxMessageBytes`.
    public init(
        client: (any NetworkClient)? = nil,
        over transports: [GraphQLSubscriptionTransport] = [.webSocket()],
        handleAllOperations: Bool = false,
        maxMessageBytes: Int = 16 << 20
    ) {
        // Its copies share what is open.
        var shared = GraphQLEndpoint("/")
        shared.subscriptions = transports
        shared.maxMessageBytes = maxMessageBytes
        self.init(handleAllOperations: handleAllOperations) { [shared] operation, home, emit in
            let client = client ?? Beagle.dependencies.networkClient
            var endpoint = shared
            endpoint.home = home
            try await client.perform(operation, like: endpoint, emit)
        }
    }

    init(handleAllOperations: Bool = false, subscribe: @escaping Subscribe) {
        self.handleAllOperations = handleAllOperations
        self.subscribe = subscribe
    }

    /// Hooks it into the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        register(client: client, operations: operations, next: next, runs: OperationRuns())
    }

    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO,
        runs: OperationRuns
    ) -> AnyPublisher<OperationResult, Never> {
        Fork(operations, next, onEnd: { runs.teardownAll() }) { [self] operation, ways in
            switch operation.kind {
            case .subscription: break
            case .query, .mutation:
                guard handleAllOperations else { return ways.forward(operation) }
            case .teardown:
                runs.teardown(operation.id)
                return ways.forward(operation)
            }
            // It may have been sent again while it is under way.
            if operation.kind == .subscription, runs.contains(operation.id) { return }
            runs.start(operation.id) { isWanted, end in
                await perform(operation, client, ways, isWanted, end)
            }
        }
        .eraseToAnyPublisher()
    }

    private func perform(
        _ operation: Operation,
        _ client: any GraphQLClient,
        _ ways: Fork.Ways,
        _ isWanted: @escaping @Sendable () -> Bool,
        _ end: @escaping @Sendable () -> Void
    ) async {
        let own = client.request.url.flatMap { Origin($0) == nil ? nil : $0 }
        let home = own ?? operation.run?.operation.request.url ?? client.request.url
        do {
            try await subscribe(operation, home) { result in
                client.inTurn { if isWanted() { ways.answer(result) } }
            }
        } catch {
            let combined = CombinedError(NetworkError(wrapping: error))
            let result = OperationResult(operation: operation, data: nil, error: combined, hasNext: false)
            return await client.waitForTurn {
                guard isWanted() else { return }
                // It is over before that is said: whoever hears it may ask again.
                end()
                ways.answer(result)
            }
        }
        await client.waitForTurn {
            // It ends for who listens; a query or mutation has had its answer.
            if isWanted(), operation.kind == .subscription { client.reexecute(operation: operation.teardown) }
        }
    }
}

extension NetworkClient {
    /// Runs an operation that goes the way of subscriptions, and gives each of its answers.
    fileprivate func perform(
        _ operation: Operation,
        like endpoint: GraphQLEndpoint,
        _ emit: @escaping @Sendable (OperationResult) -> Void
    ) async throws(NetworkError) {
        let sent = operation.withoutForeignFields
        var asked = try liveOperation(sent.message(), at: sent.endpoint(like: endpoint))
        asked.transfer.originScopedFields = sent.scopedFields
        if operation.policy.isNetwork { asked.policy = .networkOnly }
        let last = try await run(asked) { result in
            if let answer = OperationResult(of: result, for: operation) { emit(answer) }
        }
        if let answer = OperationResult(of: last, for: operation) { emit(answer) }
    }
}

extension OperationResult {
    /// What a client gave; nil where it holds no answer.
    fileprivate init?(of result: NetworkOperation.Result, for operation: Operation) {
        guard let response = result.response, !response.data.isEmpty else { return nil }
        do throws(NetworkError) {
            self.init(operation: operation, try ExecutionResult(response.json()))
        } catch {
            self.init(operation: operation, data: nil, error: CombinedError(error))
        }
        hasNext = result.hasNext
        stale = result.isStale
    }
}
