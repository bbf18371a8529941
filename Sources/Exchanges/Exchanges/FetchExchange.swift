public import BeagleNet
import BeagleNetGraphQL
import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Answers queries and mutations: sends them with a client of ours, as JSON posted to the URL of the operation's request,
/// with its header fields. Subscriptions and teardowns go on down.
///
/// A status of refusal is an error of kind `.network` unless the body says what is wrong in GraphQL's words; its
/// `networkError` has status and body. A teardown cancels the request, down to the transport.
///
/// Everything that the client's own pipeline does is done: retries, credentials, logs. A query that an exchange above did not
/// want from a store is not answered by the pipeline's either.
public struct FetchExchange: Exchange {
    private let client: (any NetworkClient)?

    /// An exchange that sends operations.
    ///
    /// - Parameter client: who performs the requests; the client of `Beagle.dependencies`, as it is then, where nil.
    public init(client: (any NetworkClient)? = nil) {
        self.client = client
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
        Fork(operations, next, onEnd: { runs.teardownAll() }) { [sender = self.client] operation, ways in
            switch operation.kind {
            case .query, .mutation:
                runs.start(operation.id) { isWanted in
                    let sender = sender ?? Beagle.dependencies.networkClient
                    let result = await sender.result(of: operation)
                    await client.waitForTurn { if isWanted() { ways.answer(result) } }
                }
            case .teardown:
                runs.teardown(operation.id)
                ways.forward(operation)
            case .subscription: ways.forward(operation)
            }
        }
        .eraseToAnyPublisher()
    }
}

extension NetworkClient {
    /// Sends an operation, and reads what comes.
    fileprivate func result(of operation: Operation) async -> OperationResult {
        let sent = operation.withoutForeignFields
        do throws(NetworkError) {
            let response = try await response(to: sent.message(), at: sent.endpoint()) {
                $0.transfer.originScopedFields = sent.scopedFields
                // What an exchange above has given as stale is not to be given again.
                $0.policy = operation.policy.isNetwork ? .networkOnly : RequestPolicy(operation.policy)
            }
            return OperationResult(operation: operation, try ExecutionResult(response.json()))
        } catch {
            return OperationResult(operation: operation, data: nil, error: CombinedError(error))
        }
    }
}

extension OperationResult {
    /// What a server says of an operation.
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
