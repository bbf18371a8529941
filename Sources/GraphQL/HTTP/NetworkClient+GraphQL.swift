public import BeagleNet
import BeagleNetHTTP

extension NetworkClient {
    /// Performs an operation and gives all that the server said.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - endpoint: where; the container's `graphQLEndpoint` where nil.
    ///   - policy: whether a stored answer will do.
    ///   - decoder: how the value is made; the container's `bodyDecoder` where nil.
    /// - Throws: `NetworkError`: `.graphQL` where the server gave errors and no data, or errors at all if the endpoint's
    ///   policy is strict; `.status` for a refusal; `.decoding` where the answer is not what was expected; or why there is
    ///   none. `graphQLErrors` has what the server said in the first two.
    public func execute<Input: Encodable, Output: Decodable>(
        _ operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil,
        policy: RequestPolicy = .cacheFirst,
        decoder: (any BodyDecoder)? = nil
    ) async throws(NetworkError) -> GraphQLResponse<Output> {
        let prepared = try PreparedOperation(operation, at: endpoint, in: container)
        return try await response(to: prepared, policy, decoder)
    }

    /// Performs an operation and gives its value. Errors beside it are logged; `execute` gives them.
    ///
    /// - Throws: as `execute` does; of kind `.graphQL` also where the server gave null, unless `Output` is an optional.
    public func perform<Input: Encodable, Output: Decodable>(
        _ operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil,
        policy: RequestPolicy = .cacheFirst,
        decoder: (any BodyDecoder)? = nil
    ) async throws(NetworkError) -> Output {
        let prepared = try PreparedOperation(operation, at: endpoint, in: container)
        return try await object(of: prepared, policy, decoder)
    }

    /// The value of an operation.
    func object<Output: Decodable>(
        of operation: PreparedOperation<Output>,
        _ policy: RequestPolicy = .cacheFirst,
        _ decoder: (any BodyDecoder)? = nil
    ) async throws(NetworkError) -> Output {
        let response = try await response(to: operation, policy, decoder)
        if !response.errors.isEmpty {
            container.logger.log(PartialAnswer(count: response.errors.count, codes: response.errors.compactMap(\.code)))
        }
        if let data = response.data ?? Output.null { return data }
        throw .malformed("the server gave null where \(Output.self) is expected", response.response)
    }

    private func response<Output: Decodable>(
        to operation: PreparedOperation<Output>,
        _ policy: RequestPolicy,
        _ decoder: (any BodyDecoder)?
    ) async throws(NetworkError) -> GraphQLResponse<Output> {
        let endpoint = operation.endpoint
        let (answer, source) = try await answer(to: operation.request, at: endpoint, policy: policy)
        var response = try answer.decode(
            Output.self,
            at: operation.rootKey,
            endpoint.errorPolicy,
            with: decoder ?? container.bodyDecoder
        )
        response.source = source
        return response
    }

    /// Performs an operation and gives the message that answered, whatever GraphQL errors it holds: for code that reads the
    /// answer itself.
    ///
    /// - Throws: `NetworkError` where there is no answer of GraphQL's.
    public func response(
        to request: GraphQLRequest,
        at endpoint: GraphQLEndpoint? = nil,
        policy: RequestPolicy = .cacheFirst
    ) async throws(NetworkError) -> NetworkResponse {
        let endpoint = try container.endpoint(endpoint)
        return try await answer(to: request, at: endpoint, policy: policy).answer.response
    }
}

/// Some of an answer is missing.
private struct PartialAnswer: LogType {
    let count: Int
    let codes: [String]
    var category: String { "GraphQL" }
    var level: LogLevel { .error }
    var message: String {
        "the answer has \(count) error\(count == 1 ? "" : "s") beside its data"
            + (codes.isEmpty ? "" : ": \(codes.joined(separator: ", "))")
    }
}

extension Decodable {
    /// nil, where this is an optional.
    fileprivate static var null: Self? {
        (Self.self as? any ExpressibleByNilLiteral.Type).flatMap { $0.init(nilLiteral: ()) as? Self }
    }
}
