public import BeagleNet
public import BeagleNetGraphQL
import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// An exchange that answers subscriptions by running them with a network client.
///
/// Queries, mutations and teardowns continue down the chain.
///
/// By default it uses a WebSocket, which operations of the exchange share if they have the same URL and header fields.
/// Other transports that the server supports can be chosen.
///
/// The client's pipeline reconnects lost connections (`RetryInterceptor.subscriptionBackoff`). A failure is the last
/// result, after which an `InterceptorExchange` above may retry.
///
/// When the server ends a subscription, its publisher finishes, and it may be started again. A teardown cancels it.
public struct WebSocketExchange: Exchange, Sendable {
    /// Performs a subscription with parameters for the origin of `home`. It emits results, returns when the server ends
    /// the subscription, and throws any other reason for the end.
    typealias Subscribe =
        @Sendable (
            _ operation: Operation,
            _ home: URL?,
            _ emit: @escaping @Sendable (OperationResult) -> Void
        ) async throws -> Void

    private let handleAllOperations: Bool
    private let subscribe: Subscribe

    /// Creates an exchange that runs subscriptions.
    ///
    /// - Parameters:
    ///   - client: The client that runs subscriptions, or `nil` for the client that `Beagle.dependencies` has at the
    ///     time of each operation.
    ///   - transports: The transports in order of preference; a WebSocket by default. Its `parameters` are sent only to
    ///     the origin of the client's request and to the origins that the network client declares, wherever operations
    ///     are sent.
    ///   - handleAllOperations: Whether it also runs queries and mutations. The default is `false`.
    ///   - maxMessageBytes: The maximum size of a message, in bytes, above 0. A larger message ends its connection with
    ///     an error of kind `.tooLarge`. The default is 16 MiB, as for `GraphQLEndpoint.maxMessageBytes`.
    public init(
        client: (any NetworkClient)? = nil,
        over transports: [GraphQLEndpoint.SubscriptionTransport] = [.webSocket()],
        handleAllOperations: Bool = false,
        maxMessageBytes: Int = 16 << 20
    ) {
        // Its copies share the open connections.
        var shared = GraphQLEndpoint("/")
        shared.subscriptions = transports
        shared.maxMessageBytes = maxMessageBytes
        self.init(handleAllOperations: handleAllOperations) { [shared] operation, home, emit in
            let client = client ?? Beagle.dependencies.networkClient
            var endpoint = shared
            endpoint.parametersOriginURL = home
            try await client.perform(operation, like: endpoint, emit)
        }
    }

    init(handleAllOperations: Bool = false, subscribe: @escaping Subscribe) {
        self.handleAllOperations = handleAllOperations
        self.subscribe = subscribe
    }

    /// Connects the exchange to the streams.
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
        ForwardingPublisher(operations, next, onEnd: { runs.teardownAll() }) { [self] operation, outputs in
            switch operation.kind {
            case .subscription: break
            case .query, .mutation:
                guard handleAllOperations else { return outputs.forward(operation) }
            case .teardown:
                runs.teardown(operation.id)
                return outputs.forward(operation)
            }
            // An operation may be sent again while it is in flight.
            if operation.kind == .subscription, runs.contains(operation.id) { return }
            runs.start(operation.id) { isActive, end in
                await perform(operation, client, outputs, isActive, end)
            }
        }
        .eraseToAnyPublisher()
    }

    private func perform(
        _ operation: Operation,
        _ client: any GraphQLClient,
        _ outputs: ForwardingPublisher.Outputs,
        _ isActive: @escaping @Sendable () -> Bool,
        _ end: @escaping @Sendable () -> Void
    ) async {
        let own = client.request.url.flatMap { Origin($0) == nil ? nil : $0 }
        let home = own ?? operation.run?.operation.request.url ?? client.request.url
        do {
            try await subscribe(operation, home) { result in
                client.runOnQueue { if isActive() { outputs.answer(result) } }
            }
        } catch {
            let combined = CombinedError(NetworkError(wrapping: error))
            let result = OperationResult(operation: operation, data: nil, error: combined, hasNext: false)
            return await client.runOnQueueAndWait {
                guard isActive() else { return }
                // Ends the run before its last result is delivered, because a subscriber may start the operation again.
                end()
                outputs.answer(result)
            }
        }
        await client.runOnQueueAndWait {
            // A subscription ends for its subscribers. A query or mutation already has its result.
            if isActive(), operation.kind == .subscription { client.reexecute(operation: operation.teardown) }
        }
    }
}

extension NetworkClient {
    /// Runs an operation over a subscription transport, and emits each result.
    fileprivate func perform(
        _ operation: Operation,
        like endpoint: GraphQLEndpoint,
        _ emit: @escaping @Sendable (OperationResult) -> Void
    ) async throws(NetworkError) {
        let sent = operation.withoutForeignFields
        var asked = try operationOverSubscriptionTransport(sent.message(), at: sent.endpoint(like: endpoint))
        asked.transfer.originScopedFields = sent.scopedFields
        if operation.policy.isNetwork { asked.policy = .networkOnly }
        let last = try await run(asked) { result in
            if let answer = OperationResult(of: result, for: operation) { emit(answer) }
        }
        if let answer = OperationResult(of: last, for: operation) { emit(answer) }
    }
}

extension OperationResult {
    /// Creates a result from a client's result, or `nil` if that has no response body.
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
