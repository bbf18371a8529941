public import BeagleNetGraphQL
import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// A network for Relay that is there already: operations go where `GraphQLEndpoint` says, through the client's own
/// pipeline, and everything that `CacheConfig` says acts.
///
/// ```swift
/// var network = RelayNetwork(client: dependencies.networkClient, at: GraphQLEndpoint("https://example.org/graphql"))
/// network.cache = RelayResponseCache(size: 250, ttl: .seconds(60))
/// ```
///
/// - Queries that ask the same at the same time share one request.
/// - What the server says went wrong is part of the answer, for Relay to read, also where it says so with a status of
///   refusal; `"data":null`, `"errors":null` and `"extensions":null` are left out. The publisher fails, with a
///   `NetworkError`, where there is no answer of GraphQL's.
/// - An operation with text is sent as `GraphQLEndpoint.documents` says. One that has only an id is sent by it: where
///   text is asked for, as `documentId`.
/// - Subscriptions fail with `.unsupported`.
///
/// It is cold, and gives as much as is wanted, on any thread; see `ClientPublisher`.
public struct RelayNetwork: Network, Sendable {
    /// Who performs operations.
    public var client: any NetworkClient
    /// Where they go; nil takes the `graphQLEndpoint` of the client's container.
    public var endpoint: GraphQLEndpoint?
    /// Where answers to queries are stored that have no errors; nil, the default, stores none. `CacheConfig.force` passes it
    /// by, and a mutation clears it, whatever
    /// came of it.
    public var cache: RelayResponseCache?
    /// The name of a header field that tells the server the transaction's id; nil, the default, sends none. Queries with
    /// different ids don't share a request then.
    public var transactionField: String?

    /// A network.
    ///
    /// - Parameters:
    ///   - client: who performs operations.
    ///   - endpoint: where they go; nil takes the one of the client's container.
    public init(client: any NetworkClient, at endpoint: GraphQLEndpoint? = nil) {
        self.client = client
        self.endpoint = endpoint
    }

    /// Executes an operation.
    ///
    /// With `CacheConfig.poll` it is executed again so many seconds after each answer, by the clock of the client's
    /// container and past stored answers, until an error ends it or nobody listens any more.
    public func execute(
        request: RequestParameters,
        variables: VariableData,
        cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error> {
        execute(request: request, variables: variables, cacheConfig: cacheConfig, uploadables: [:])
    }

    /// Executes an operation with files, which are sent as a form of several parts (GraphQL multipart request
    /// specification); it cannot be polled.
    ///
    /// - Parameters:
    ///   - request: which operation.
    ///   - variables: its variables.
    ///   - cacheConfig: how stored answers are treated.
    ///   - uploadables: the files, by where they belong among the variables, as `photo` or `input.photos.0`.
    public func execute(
        request: RequestParameters,
        variables: VariableData,
        cacheConfig: CacheConfig,
        uploadables: [String: FormFile]
    ) -> AnyPublisher<Data, any Error> {
        let execution = RelayExecution(request: request, cacheConfig: cacheConfig)
        return ClientPublisher<Data> { emit throws(NetworkError) in
            let pause = try execution.pause(with: uploadables)
            let message = try GraphQLRequest(execution, variables, uploadables: uploadables)
            emit(try await answer(execution, variables, message, isForced: cacheConfig.force))
            guard let pause else { return }
            while true {
                try await sleep(pause)
                emit(try await answer(execution, variables, message, isForced: true))
            }
        }
        .mapError { $0 as any Error }
        .eraseToAnyPublisher()
    }

    private func sleep(_ pause: Duration) async throws(NetworkError) {
        do {
            try await client.container.clock.sleep(for: pause)
        } catch {
            throw NetworkError(wrapping: error)
        }
    }

    /// The stored answer, else the server's.
    private func answer(
        _ execution: RelayExecution,
        _ variables: VariableData,
        _ message: GraphQLRequest,
        isForced: Bool
    ) async throws(NetworkError) -> Data {
        let id = message.files.isEmpty && message.kind == .query ? execution.request.identity : nil
        if let id, !isForced, let stored = cache?.answer(to: id, variables) {
            log(execution, "was answered from the response cache")
            return stored
        }
        defer { if message.kind == .mutation { cache?.clear() } }
        let payload: RelayPayload
        do {
            payload = RelayPayload(try await send(execution, message, isForced ? .networkOnly : .cacheFirst))
        } catch {
            log(execution, "failed: \(error.kind.rawValue)", error.isCancelled ? .info : .error)
            throw error
        }
        log(execution, "was answered by the server")
        let data = payload.withoutNulls
        if let id, payload.has("data"), !payload.has("errors") { cache?.store(data, of: id, variables) }
        return data
    }

    /// The body that answers, errors of GraphQL's included.
    private func send(
        _ execution: RelayExecution,
        _ message: GraphQLRequest,
        _ policy: RequestPolicy
    ) async throws(NetworkError) -> Data {
        var endpoint = try client.container.endpoint(endpoint)
        if message.query == nil, endpoint.documents == .automatic { endpoint.documents = .documentID }
        if let transactionField, let id = execution.cacheConfig.transactionID {
            endpoint.headers[transactionField] = id
        }
        do {
            let client = ExecutionClient(client: client, execution: execution)
            return try await client.response(to: message, at: endpoint, policy: policy).data
        } catch {
            guard error.kind == .status, !error.graphQLErrors.isEmpty, let data = error.data else { throw error }
            return data
        }
    }

    /// Tells what became of an execution that has an id.
    private func log(_ execution: RelayExecution, _ outcome: String, _ level: LogLevel = .info) {
        guard let id = execution.cacheConfig.transactionID else { return }
        client.container.logger.log(Line(message: "\(execution.request.name) [\(id)] \(outcome)", level: level))
    }

    private struct Line: LogType {
        let category = "Relay"
        let message: String
        let level: LogLevel
    }
}

extension RelayExecution {
    /// How long it is until the next execution; nil where there is none.
    fileprivate func pause(with uploadables: [String: FormFile]) throws(NetworkError) -> Duration? {
        guard let seconds = cacheConfig.poll else { return nil }
        guard seconds > 0, seconds < 1e9 else {
            throw NetworkError(.badConfiguration, during: .build, "CacheConfig.poll is not a number of seconds above 0")
        }
        guard uploadables.isEmpty else {
            throw NetworkError(.badConfiguration, during: .build, "an operation with files cannot be polled")
        }
        return .seconds(seconds)
    }
}

extension RequestParameters {
    /// What tells operations apart where answers are stored.
    fileprivate var identity: String? { cacheID ?? id ?? text }
}

/// Hands everything on, and says which execution operations are for.
private struct ExecutionClient: NetworkClient {
    let client: any NetworkClient
    let execution: RelayExecution

    var container: BeagleDependencies { client.container }
    var options: TransferOptions { client.options }

    func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        client.executeRequest(request, completion: completion)
    }

    func stream(_ request: Request) async throws(NetworkError) -> StreamingResponse {
        try await client.stream(request)
    }

    nonisolated(nonsending) func run(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        operation.relayExecution = execution
        return try await client.run(operation, emit: emit)
    }
}
