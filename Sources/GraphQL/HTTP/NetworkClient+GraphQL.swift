public import BeagleNet
import BeagleNetHTTP

extension NetworkClient {
    /// Performs an operation and returns the complete response.
    ///
    /// - Parameters:
    ///   - operation: The operation to perform.
    ///   - endpoint: The endpoint, or `nil` for the container's `graphQLEndpoint`.
    ///   - decoder: The decoder of the value, or `nil` for the container's `bodyDecoder`.
    ///   - timeout: The time limit of the whole call, including all attempts. By default only
    ///     `TransferOptions.Timeouts.total` limits each attempt.
    ///   - configure: Configures the operation before it runs, such as its policy, partition and context.
    ///   - onProgress: Receives the progress of file uploads. The default is `nil`.
    /// - Throws: `NetworkError`: `.graphQL` if the server returned errors and no data, or any errors if the endpoint's
    ///   policy is strict; `.status` for an unsuccessful status; `.decoding` if the response doesn't have the expected
    ///   form; or the reason why there is no response. For the first two, `graphQLErrors` has the server's errors.
    public func execute<Input: Encodable, Output: Decodable>(
        _ operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil,
        decoder: (any BodyDecoder)? = nil,
        timeout: Duration? = nil,
        _ configure: Configure = { _ in },
        onProgress: ProgressHandler? = nil
    ) async throws(NetworkError) -> GraphQLResponse<Output> {
        let prepared = try PreparedOperation(operation, at: endpoint, in: container)
        return try await response(to: prepared, decoder, onProgress) { operation in
            operation.request.limit(to: timeout, options)
            configure(&operation)
        }
    }

    /// Performs an operation and returns its value.
    ///
    /// Errors in a partial response are logged; use `execute` to receive them.
    ///
    /// - Throws: The errors of `execute`, and an error of kind `.decoding` if the server returned null without errors,
    ///   unless `Output` is an optional.
    public func perform<Input: Encodable, Output: Decodable>(
        _ operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil,
        decoder: (any BodyDecoder)? = nil,
        timeout: Duration? = nil,
        _ configure: Configure = { _ in },
        onProgress: ProgressHandler? = nil
    ) async throws(NetworkError) -> Output {
        let prepared = try PreparedOperation(operation, at: endpoint, in: container)
        return try await object(of: prepared, decoder, onProgress) { operation in
            operation.request.limit(to: timeout, options)
            configure(&operation)
        }
    }

    /// Performs an operation and returns its value.
    func object<Output: Decodable>(
        of operation: PreparedOperation,
        _ decoder: (any BodyDecoder)? = nil,
        _ onProgress: ProgressHandler? = nil,
        _ configure: Configure = { _ in }
    ) async throws(NetworkError) -> Output {
        let parsed = try await graphQLResponse(to: operation, onProgress, configure)
        let policy = operation.endpoint.errorPolicy
        let data = try parsed.value(Output.self, at: operation.rootKey, policy, with: decoder ?? container.bodyDecoder)
        if !parsed.errors.isEmpty, policy != .ignore {
            container.logger.log(
                PartialResponseLog(count: parsed.errors.count, codes: parsed.errors.compactMap(\.loggableCode))
            )
        }
        if let data = data ?? Output.nilValue { return data }
        throw .malformed("the server returned null instead of \(Output.self)", parsed.response)
    }

    func response<Output: Decodable>(
        to operation: PreparedOperation,
        _ decoder: (any BodyDecoder)?,
        _ onProgress: ProgressHandler?,
        _ configure: Configure
    ) async throws(NetworkError) -> GraphQLResponse<Output> {
        let parsed = try await graphQLResponse(to: operation, onProgress, configure)
        return try parsed.decode(
            Output.self,
            at: operation.rootKey,
            operation.endpoint.errorPolicy,
            with: decoder ?? container.bodyDecoder
        )
    }

    /// Performs an operation and returns the HTTP response, even if it contains GraphQL errors.
    ///
    /// It is for code that parses the response itself.
    ///
    /// - Throws: `NetworkError` if there is no GraphQL response; of kind `.badRequest` if the request can't be sent,
    ///   for example because its variables are not a JSON object.
    public func response(
        to request: GraphQLRequest,
        at endpoint: GraphQLEndpoint? = nil,
        _ configure: Configure = { _ in }
    ) async throws(NetworkError) -> NetworkResponse {
        try request.checkVariables()
        let endpoint = try container.endpoint(endpoint)
        return try await graphQLResponse(to: request, at: endpoint, configure).response
    }

    /// Returns the response of an operation whose kind was taken from its document.
    private func graphQLResponse(
        to operation: PreparedOperation,
        _ onProgress: ProgressHandler?,
        _ configure: Configure
    ) async throws(NetworkError) -> ParsedGraphQLResponse {
        let networkOperation = try self.networkOperation(
            for: operation.request,
            at: operation.endpoint,
            operation.document,
            configure,
            onProgress
        )
        return try await graphQLResponse(to: networkOperation, onProgress)
    }
}

extension NetworkClient {
    /// Returns the network operation that `execute` runs, for use with `watch`.
    ///
    /// Read the responses that `watch` delivers with `GraphQLOperation.read`.
    ///
    /// - Throws: `NetworkError` if the operation can't be sent.
    public func networkOperation<Input: Encodable, Output: Decodable>(
        for operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil
    ) throws(NetworkError) -> NetworkOperation {
        let prepared = try PreparedOperation(operation, at: endpoint, in: container)
        return try networkOperation(for: prepared.request, at: prepared.endpoint, prepared.document)
    }
}

extension GraphQLOperation {
    /// Decodes a response to this operation.
    ///
    /// - Parameters:
    ///   - response: The HTTP response.
    ///   - policy: The handling of errors.
    ///   - decoder: The decoder of the value; a `JSONBodyDecoder` by default.
    /// - Throws: `NetworkError` as `NetworkClient.execute` does.
    public func read(
        _ response: NetworkResponse,
        _ policy: GraphQLEndpoint.ErrorPolicy = .partial,
        decoder: any BodyDecoder = JSONBodyDecoder()
    ) throws(NetworkError) -> GraphQLResponse<Output> {
        let key = try rootKey(of: definition())
        return try ParsedGraphQLResponse(response, refusal: nil).decode(Output.self, at: key, policy, with: decoder)
    }
}

/// A log event for a response with data and errors.
private struct PartialResponseLog: LogType {
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
    /// `nil` as a value of this type, if the type is an optional.
    static var nilValue: Self? {
        (Self.self as? any ExpressibleByNilLiteral.Type).flatMap { $0.init(nilLiteral: ()) as? Self }
    }
}
