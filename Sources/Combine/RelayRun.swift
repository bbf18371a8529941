import BeagleNetGraphQL
import BeagleNetHTTP

/// One execution of an operation by a `RelayNetwork`, with all its repetitions.
struct RelayRun: Sendable {
    typealias Emit = @Sendable (Data) -> Void

    private let network: RelayNetwork
    private let execution: RelayExecution
    private let variables: VariableData
    private let message: GraphQLRequest
    /// How long it is until the next repetition; nil where there is none.
    private let pause: Duration?

    /// - Parameter uploadables: files, by where they belong among the variables.
    /// - Throws: `NetworkError` where this cannot be sent.
    init(
        _ execution: RelayExecution,
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

    /// Executes the operation, again and again where it is polled.
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

    /// Gives the stored answer, else the server's.
    private func runOnce(isForced: Bool, _ emit: Emit) async throws(NetworkError) {
        let id = try storedID()
        if let id, !isForced, let stored = network.cache?.answer(to: id, variables) {
            log("completed from the response cache")
            return emit(stored)
        }
        defer { if message.kind == .mutation { network.cache?.clear() } }
        let generation = id.flatMap { network.cache?.begin($0, variables) }
        defer { if let id { network.cache?.end(id, variables) } }
        do {
            let answer = try await answer(isForced ? .networkOnly : .cacheFirst, emit)
            log("completed")
            guard let id, let generation, let answer else { return }
            let payload = RelayPayload(answer)
            guard payload.has("data"), !payload.hasErrors else { return }
            network.cache?.store(answer, of: id, variables, in: generation)
        } catch {
            log("failed: \(error.kind.rawValue)")
            throw error
        }
    }

    /// What an answer is stored under: for whom, of which server, and to which operation. nil where it is not stored.
    private func storedID() throws(NetworkError) -> String? {
        guard network.cache != nil, message.files.isEmpty, message.kind == .query,
            let identity = execution.request.identity
        else { return nil }
        let container = network.client.container
        let endpoint = try container.endpoint(network.endpoint)
        let fields = endpoint.headers.map { "\($0): \($1)" }.sorted()
        let url = try endpoint.target.url(in: container).absoluteString
        // No field has line ends: what comes last may have them.
        return (["\(container.credentialOwner)", url] + fields + ["", identity]).joined(separator: "\n")
    }

    /// Subscribes, and gives what comes until the server ends it.
    private func subscribe(_ emit: @escaping Emit) async throws(NetworkError) {
        let client = ExecutionClient(wrapped: network.client, execution: execution)
        let give: @Sendable (NetworkOperation.Result) -> Void = { result in
            if let response = result.response { emit(RelayPayload(response.data).withoutNulls) }
        }
        do {
            let operation = try client.liveOperation(message, at: try endpoint())
            give(try await client.run(operation, emit: give))
            log("ended")
        } catch {
            log("failed: \(error.kind.rawValue)")
            // What the server says went wrong is for Relay to read.
            let errors = error.graphQLErrors
            guard error.kind == .graphQL || error.kind == .status, !errors.isEmpty else { throw error }
            emit(try JSONValue.object(["errors": .array(errors.map(\.raw))]).data())
        }
    }

    /// Asks the server, and gives what comes.
    ///
    /// - Returns: the whole answer; nil where it came in pieces and there is no cache.
    private func answer(_ policy: RequestPolicy, _ emit: Emit) async throws(NetworkError) -> Data? {
        let endpoint = try endpoint()
        let client = ExecutionClient(wrapped: network.client, execution: execution)
        let data: Data
        do {
            if try message.mayComeInPieces {
                let isGathering = network.pieces == .merged
                let updates = try client.results(of: message, at: endpoint, isGathering: isGathering)
                return try await pieces(of: updates, emit)
            }
            data = try await client.response(to: message, at: endpoint) { $0.policy = policy }.data
        } catch {
            // What the server says went wrong is for Relay to read.
            guard error.kind == .status, !error.graphQLErrors.isEmpty, let body = error.data else { throw error }
            data = body
        }
        let answer = RelayPayload(data).withoutNulls
        emit(answer)
        return answer
    }

    /// Gives an answer piece by piece.
    ///
    /// - Returns: the whole answer; nil where it is given in patches and there is no cache.
    private func pieces(of updates: GraphQLUpdates<JSONValue>, _ emit: Emit) async throws(NetworkError) -> Data? {
        var (updates, whole) = (updates.makeAsyncIterator(), Data?.none)
        while let update = try await updates.next() {
            switch network.pieces {
            case .merged:
                let text = try update.whole()
                emit(text)
                whole = text
            case .patches:
                if let text = update.asItCame {
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
        if message.query == nil, endpoint.documents == .automatic { endpoint.documents = .documentID }
        // It would keep subscriptions from sharing a connection.
        if message.kind != .subscription, let field = network.transactionField,
            let id = execution.cacheConfig.transactionID
        {
            endpoint.headers[field] = id
        }
        return endpoint
    }

    /// Tells what became of an execution that has an id.
    private func log(_ outcome: String) {
        let logger = network.client.container.logger
        guard let id = execution.cacheConfig.transactionID, logger.accepts(.debug) else { return }
        logger.log(Line(message: "\(execution.request.name) [\(id)] \(outcome)"))
    }

    private struct Line: LogType {
        let category = "Relay"
        let message: String
        let level = LogLevel.debug
    }
}

extension RelayExecution {
    /// How long it is until the next execution; nil where there is none.
    ///
    /// - Throws: `NetworkError` of kind `.badConfiguration` where it cannot be as it is wanted.
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
    /// The text of an answer that came whole, as Relay is given it; nil of one that was put together.
    fileprivate var asItCame: Data? {
        response.response.data.isEmpty ? nil : RelayPayload(response.response.data).withoutNulls
    }

    /// The text of the answer so far, without `"data":null`.
    fileprivate func whole() throws(NetworkError) -> Data {
        if let asItCame { return asItCame }
        var json = json
        if json["data"] == .null { json["data"] = Optional<JSONValue>.none }
        return try json.data()
    }
}

extension RequestParameters {
    /// What tells operations apart where answers are stored: one text may hold several.
    fileprivate var identity: String? { (cacheID ?? id ?? text).map { "\(name) \($0)" } }
}

/// Hands everything on, and says which execution operations are for.
private struct ExecutionClient: NetworkClientWrapper {
    let wrapped: any NetworkClient
    let execution: RelayExecution

    func prepare(_ operation: inout NetworkOperation) {
        operation.relayExecution = execution
    }
}
