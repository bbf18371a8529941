public import BeagleNet
import BeagleNetHTTP

extension NetworkClient {
    /// Performs an operation and gives all that the server said.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - endpoint: where; the container's `graphQLEndpoint` where nil.
    ///   - decoder: how the value is made; the container's `bodyDecoder` where nil.
    ///   - timeout: the longest that the whole call may take, with all attempts; by default only `Timeouts.total` limits
    ///     each attempt.
    ///   - configure: says more of the operation before it is run: policy, partition, context.
    ///   - onProgress: hears how far files are; nobody by default.
    /// - Throws: `NetworkError`: `.graphQL` where the server gave errors and no data, or errors at all if the endpoint's
    ///   policy is strict; `.status` for a refusal; `.decoding` where the answer is not what was expected; or why there is
    ///   none. `graphQLErrors` has what the server said in the first two.
    public func execute<Input: Encodable, Output: Decodable>(
        _ operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil,
        decoder: (any BodyDecoder)? = nil,
        timeout: Duration? = nil,
        _ configure: Configuring = { _ in },
        onProgress: Progress? = nil
    ) async throws(NetworkError) -> GraphQLResponse<Output> {
        let prepared = try PreparedOperation(operation, at: endpoint, in: container)
        return try await response(to: prepared, decoder, onProgress) { operation in
            operation.request.limit(to: timeout, options)
            configure(&operation)
        }
    }

    /// Performs an operation and gives its value. Errors beside it are logged; `execute` gives them.
    ///
    /// - Throws: as `execute` does; of kind `.decoding` where the server gave null and no errors, unless `Output` is an
    ///   optional.
    public func perform<Input: Encodable, Output: Decodable>(
        _ operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil,
        decoder: (any BodyDecoder)? = nil,
        timeout: Duration? = nil,
        _ configure: Configuring = { _ in },
        onProgress: Progress? = nil
    ) async throws(NetworkError) -> Output {
        let prepared = try PreparedOperation(operation, at: endpoint, in: container)
        return try await object(of: prepared, decoder, onProgress) { operation in
            operation.request.limit(to: timeout, options)
            configure(&operation)
        }
    }

    /// The value of an operation.
    func object<Output: Decodable>(
        of operation: PreparedOperation,
        _ decoder: (any BodyDecoder)? = nil,
        _ onProgress: Progress? = nil,
        _ configure: Configuring = { _ in }
    ) async throws(NetworkError) -> Output {
        let answer = try await answer(to: operation, onProgress, configure)
        let policy = operation.endpoint.errorPolicy
        let data = try answer.value(Output.self, at: operation.rootKey, policy, with: decoder ?? container.bodyDecoder)
        if !answer.errors.isEmpty, policy != .ignore {
            container.logger.log(
                PartialAnswer(count: answer.errors.count, codes: answer.errors.compactMap(\.plainCode))
            )
        }
        if let data = data ?? Output.null { return data }
        throw .malformed("the server returned null instead of \(Output.self)", answer.response)
    }

    func response<Output: Decodable>(
        to operation: PreparedOperation,
        _ decoder: (any BodyDecoder)?,
        _ onProgress: Progress?,
        _ configure: Configuring
    ) async throws(NetworkError) -> GraphQLResponse<Output> {
        let answer = try await answer(to: operation, onProgress, configure)
        return try answer.decode(
            Output.self,
            at: operation.rootKey,
            operation.endpoint.errorPolicy,
            with: decoder ?? container.bodyDecoder
        )
    }

    /// Performs an operation and gives the message that answered, whatever GraphQL errors it holds: for code that reads the
    /// answer itself.
    ///
    /// - Throws: `NetworkError` where there is no answer of GraphQL's; of kind `.badRequest` where the request cannot be sent, as
    ///   its variables are no JSON object.
    public func response(
        to request: GraphQLRequest,
        at endpoint: GraphQLEndpoint? = nil,
        _ configure: Configuring = { _ in }
    ) async throws(NetworkError) -> NetworkResponse {
        try request.checkVariables()
        let endpoint = try container.endpoint(endpoint)
        return try await answer(to: request, at: endpoint, configure).response
    }

    /// What comes for an operation, whose kind is what its document says.
    private func answer(
        to operation: PreparedOperation,
        _ onProgress: Progress?,
        _ configure: Configuring
    ) async throws(NetworkError) -> GraphQLAnswer {
        let asked = try networkOperation(
            for: operation.request,
            at: operation.endpoint,
            operation.document,
            configure,
            onProgress
        )
        return try await answer(to: asked, onProgress)
    }
}

extension NetworkClient {
    /// The operation that `execute` runs, to be watched: `watch` gives its answers each time they change,
    /// and `GraphQLOperation.read` what is in them.
    ///
    /// - Throws: `NetworkError` where it cannot be sent.
    public func networkOperation<Input: Encodable, Output: Decodable>(
        for operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil
    ) throws(NetworkError) -> NetworkOperation {
        let prepared = try PreparedOperation(operation, at: endpoint, in: container)
        return try networkOperation(for: prepared.request, at: prepared.endpoint, prepared.document)
    }
}

extension GraphQLOperation {
    /// Reads an answer to this operation.
    ///
    /// - Parameters:
    ///   - response: the message.
    ///   - policy: what becomes of errors.
    ///   - decoder: how the value is made; a `JSONBodyDecoder` by default.
    /// - Throws: `NetworkError` as `NetworkClient.execute` does.
    public func read(
        _ response: NetworkResponse,
        _ policy: GraphQLEndpoint.ErrorPolicy = .partial,
        decoder: any BodyDecoder = JSONBodyDecoder()
    ) throws(NetworkError) -> GraphQLResponse<Output> {
        let key = try rootKey(of: definition())
        return try GraphQLAnswer(response, refusal: nil).decode(Output.self, at: key, policy, with: decoder)
    }
}

/// Some of an answer is missing.
private struct PartialAnswer: LogType {
    let count: Int
    let codes: [String]
    var category: String { "GraphQL" }
    var level: LogLevel { .warning }
    var message: String {
        "the response has data and \(count) error\(count == 1 ? "" : "s")"
            + (codes.isEmpty ? "" : ": \(codes.joined(separator: ", "))")
    }
}

extension Decodable {
    /// nil, where this is an optional.
    static var null: Self? {
        (Self.self as? any ExpressibleByNilLiteral.Type).flatMap { $0.init(nilLiteral: ()) as? Self }
    }
}
