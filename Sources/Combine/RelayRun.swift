import BeagleNetGraphQL
import BeagleNetHTTP

/// One execution of an operation by a `RelayNetwork`, including all repetitions.
struct RelayRun: Sendable {
    typealias Emit = @Sendable (Data) -> Void

    private let network: RelayNetwork
    private let execution: NetworkOperation.RelayExecution
    private let variables: VariableData
    private let message: GraphQLRequest
    /// The time until the next repetition; `nil` if the operation isn't polled.
    private let pause: Duration?

    /// - Parameter uploadables: The files, by their path in the variables.
    /// - Throws: `NetworkError` if the operation can't be sent.
    init(
        _ execution: NetworkOperation.RelayExecution,
        _ variables: VariableData,
        _ uploadables: [String: FormFile],
        by network: RelayNetwork
    ) throws(NetworkError) {
        self.network = network
        self.execution = execution
        self.variables = variables
        pause = try execution.pause(with: uploadables)
        message = try GraphQLRequest(execution, variables, uploadables: uploadables)
    }

    /// Executes the operation, repeatedly if it is polled.
    func run(_ emit: @escaping Emit) async throws(NetworkError) {
        if message.kind == .subscription { return try await subscribe(emit) }
        try await runOnce(isForced: execution.cacheConfig.force, emit)
        guard let pause else { return }
        while true {
            do {
                try await network.client.container.clock.sleep(for: pause)
            } catch {
                throw NetworkError(wrapping: error)
            }
            try await runOnce(isForced: true, emit)
        }
    }

    /// Delivers the stored response if it exists, otherwise the server's.
    private func runOnce(isForced: Bool, _ emit: Emit) async throws(NetworkError) {
        let id = try storedID()
        if let id, !isForced, let stored = network.cache?.response(to: id, variables) {
            log("completed from the response cache")
            return emit(stored)
        }
        defer { if message.kind == .mutation { network.cache?.clear() } }
        let generation = id.flatMap { network.cache?.beginRequest($0, variables) }
        defer { if let id { network.cache?.endRequest(id, variables) } }
        do {
            let response = try await fetch(isForced ? .networkOnly : .cacheFirst, emit)
            log("completed")
            guard let id, let generation, let response else { return }
            let payload = RelayPayload(response)
            guard payload.has("data"), !payload.hasErrors else { return }
            network.cache?.store(response, of: id, variables, in: generation)
        } catch {
            log("failed: \(error.kind.rawValue)")
            throw error
        }
    }

    /// Returns the key of the stored response, made of user, endpoint and operation, or `nil` if the response isn't
    /// stored.
    private func storedID() throws(NetworkError) -> String? {
        guard network.cache != nil, message.files.isEmpty, message.kind == .query,
            let identity = execution.request.identity
        else { return nil }
        let container = network.client.container
        let endpoint = try container.endpoint(network.endpoint)
        let fields = endpoint.headers.map { "\($0): \($1)" }.sorted()
        let url = try endpoint.target.url(in: container).absoluteString
        // No field contains a line break; only the last part may contain one.
        return (["\(container.credentialOwner)", url] + fields + ["", identity]).joined(separator: "\n")
    }

    /// Subscribes, and delivers results until the server ends the subscription.
    private func subscribe(_ emit: @escaping Emit) async throws(NetworkError) {
        let client = ExecutionClient(wrapped: network.client, execution: execution)
        let deliver: @Sendable (NetworkOperation.Result) -> Void = { result in
            if let response = result.response { emit(RelayPayload(response.data).withoutNulls) }
        }
        do {
            let operation = try client.operationOverSubscriptionTransport(message, at: try endpoint())
            deliver(try await client.run(operation, emit: deliver))
            log("ended")
        } catch {
            log("failed: \(error.kind.rawValue)")
            // GraphQL errors are for Relay to read.
            let errors = error.graphQLErrors
            guard error.kind == .graphQL || error.kind == .status, !errors.isEmpty else { throw error }
            emit(try JSONValue.object(["errors": .array(errors.map(\.raw))]).data())
        }
    }

    /// Sends the operation to the server and delivers its responses.
    ///
    /// - Returns: The whole response; `nil` if it was delivered in patches and there is no cache.
    private func fetch(_ policy: RequestPolicy, _ emit: Emit) async throws(NetworkError) -> Data? {
        let endpoint = try endpoint()
        let client = ExecutionClient(wrapped: network.client, execution: execution)
        let data: Data
        do {
            if try message.usesIncrementalDelivery {
                let coalesces = network.incrementalDelivery == .merged
                let updates = try client.results(of: message, at: endpoint, coalesces: coalesces)
                return try await incrementalResult(of: updates, emit)
            }
            data = try await client.response(to: message, at: endpoint) { $0.policy = policy }.data
        } catch {
            // GraphQL errors are for Relay to read.
            guard error.kind == .status, !error.graphQLErrors.isEmpty, let body = error.data else { throw error }
            data = body
        }
        let response = RelayPayload(data).withoutNulls
        emit(response)
        return response
    }

    /// Delivers an incremental response.
    ///
    /// - Returns: The whole response; `nil` if it was delivered in patches and there is no cache.
    private func incrementalResult(of updates: GraphQLUpdates<JSONValue>, _ emit: Emit) async throws(NetworkError)
        -> Data?
    {
        var (updates, whole) = (updates.makeAsyncIterator(), Data?.none)
        while let update = try await updates.next() {
            switch network.incrementalDelivery {
            case .merged:
                let text = try update.whole()
                emit(text)
                whole = text
            case .patches:
                if let text = update.unmergedText {
                    emit(RelayPayload(text).marked(isFinal: !update.hasNext))
                } else {
                    for payload in update.relayPayloads { emit(try payload.data()) }
                }
                if !update.hasNext, network.cache != nil { whole = try update.whole() }
            }
        }
        return whole
    }

    private func endpoint() throws(NetworkError) -> GraphQLEndpoint {
        var endpoint = try network.client.container.endpoint(network.endpoint)
        if message.query == nil, endpoint.documentStyle == .automatic { endpoint.documentStyle = .documentID }
        // For subscriptions, the field would prevent them from sharing a connection.
        if message.kind != .subscription, let field = network.transactionField,
            let id = execution.cacheConfig.transactionID
        {
            endpoint.headers[field] = id
        }
        return endpoint
    }

    /// Logs the outcome of an execution that has a transaction id.
    private func log(_ outcome: String) {
        let logger = network.client.container.logger
        guard let id = execution.cacheConfig.transactionID, logger.accepts(.debug) else { return }
        logger.log(LogMessage(message: "\(execution.request.name) [\(id)] \(outcome)"))
    }

    private struct LogMessage: LogType {
        let category = "Relay"
        let message: String
        let level = LogLevel.debug
    }
}

extension NetworkOperation.RelayExecution {
    /// Returns the time until the next execution, or `nil` if the operation isn't polled.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` if the combination of settings isn't supported.
    fileprivate func pause(with uploadables: [String: FormFile]) throws(NetworkError) -> Duration? {
        let isSubscription = request.operationKind == .subscription
        if isSubscription, !uploadables.isEmpty {
            throw NetworkError(.badConfiguration, during: .build, "a subscription cannot have files")
        }
        guard let seconds = cacheConfig.poll else { return nil }
        if isSubscription {
            throw NetworkError(
                .badConfiguration,
                during: .build,
                "a subscription cannot be polled",
                advice: "set CacheConfig.poll to nil: a subscription receives results without polling"
            )
        }
        guard seconds > 0, seconds < 1e9 else {
            throw NetworkError(
                .badConfiguration,
                during: .build,
                "CacheConfig.poll must be a number of seconds above 0"
            )
        }
        guard uploadables.isEmpty else {
            throw NetworkError(.badConfiguration, during: .build, "an operation with files cannot be polled")
        }
        return .seconds(seconds)
    }
}

extension GraphQLUpdate<JSONValue> {
    /// The text of a response in one piece, without null members; `nil` for a merged response.
    fileprivate var unmergedText: Data? {
        response.response.data.isEmpty ? nil : RelayPayload(response.response.data).withoutNulls
    }

    /// Returns the text of the response so far, without `"data":null`.
    fileprivate func whole() throws(NetworkError) -> Data {
        if let unmergedText { return unmergedText }
        var json = json
        if json["data"] == .null { json["data"] = Optional<JSONValue>.none }
        return try json.data()
    }
}

extension RequestParameters {
    /// The operation's identity in the cache. It includes the name, because one text may contain several operations.
    fileprivate var identity: String? { (cacheID ?? id ?? text).map { "\(name) \($0)" } }
}

/// A client that passes all calls on and attaches the Relay execution to operations.
private struct ExecutionClient: NetworkClientWrapper {
    let wrapped: any NetworkClient
    let execution: NetworkOperation.RelayExecution

    func prepare(_ operation: inout NetworkOperation) {
        operation.relayExecution = execution
    }
}
