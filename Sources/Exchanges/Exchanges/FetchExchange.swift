public import BeagleNet
import BeagleNetGraphQL
import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// An exchange that answers queries and mutations by sending them with a network client.
///
/// Subscriptions and teardowns continue down the chain.
///
/// It posts each operation as JSON to the URL of the operation's request, with the request's header fields. The
/// client's own pipeline applies, including retries, credentials and logs.
///
/// An error status results in an error of kind `.network`, whose `networkError` has the status and body, unless the
/// body has GraphQL errors. A teardown cancels the request, down to the transport. If the operation's policy requires
/// the network, the pipeline doesn't answer it from its own cache either.
public struct FetchExchange: Exchange {
    private let client: (any NetworkClient)?

    /// Creates an exchange that sends operations.
    ///
    /// - Parameter client: The client that performs the requests, or `nil` for the client that `Beagle.dependencies`
    ///   has at the time of each operation.
    public init(client: (any NetworkClient)? = nil) {
        self.client = client
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
        ForwardingPublisher(operations, next, onEnd: { runs.teardownAll() }) {
            [sender = self.client] operation, outputs in
            switch operation.kind {
            case .query, .mutation:
                runs.start(operation.id) { isActive in
                    let sender = sender ?? Beagle.dependencies.networkClient
                    let result = await sender.result(of: operation)
                    await client.runOnQueueAndWait { if isActive() { outputs.answer(result) } }
                }
            case .teardown:
                runs.teardown(operation.id)
                outputs.forward(operation)
            case .subscription: outputs.forward(operation)
            }
        }
        .eraseToAnyPublisher()
    }
}

extension NetworkClient {
    /// Sends an operation, and returns its result.
    fileprivate func result(of operation: Operation) async -> OperationResult {
        let sent = operation.withoutForeignFields
        do throws(NetworkError) {
            let response = try await response(to: sent.message(), at: sent.endpoint()) {
                $0.transfer.originScopedFields = sent.scopedFields
                // The pipeline must not return a stored result that an exchange above has already returned as stale.
                $0.policy = operation.policy.isNetwork ? .networkOnly : RequestPolicy(operation.policy)
            }
            return OperationResult(operation: operation, try ExecutionResult(response.json()))
        } catch {
            return OperationResult(operation: operation, data: nil, error: CombinedError(error))
        }
    }
}

extension OperationResult {
    /// Creates a result from a server's response.
    init(operation: Operation, _ answer: ExecutionResult) {
        self.init(
            operation: operation,
            data: answer.data,
            error: answer.errors.map { .graphql($0) },
            extensions: answer.extensions,
            hasNext: answer.hasNext
        )
    }
}
