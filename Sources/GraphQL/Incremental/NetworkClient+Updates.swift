public import BeagleNet
import BeagleNetHTTP

extension NetworkClient {
    /// Performs an operation whose result may be incremental, as requested by `@defer` or `@stream`, and returns its
    /// updates.
    ///
    /// Each update has the whole result so far.
    ///
    /// ```swift
    /// for try await update in try client.results(of: .fetchPost(withID: "1")) { show(update.response.data) }
    /// ```
    /// A server without incremental delivery responds once. Parts that arrive together are delivered together. Deferred
    /// fields are missing at first, so `Output` must declare them as optionals. If the root field of `Output` itself is
    /// deferred, `data` is `nil` until it arrives.
    ///
    /// In a merged result, integers beyond 64 bits and decimals beyond a `Double` lose their last digits.
    ///
    /// - Parameters:
    ///   - operation: The operation to perform.
    ///   - endpoint: The endpoint, or `nil` for the container's `graphQLEndpoint`.
    ///   - decoder: The decoder of the value, or `nil` for the container's `bodyDecoder`.
    ///   - maxPayloadBytes: The maximum size of one part in bytes, 64 MiB by default. The whole result may have four
    ///     times this size.
    ///   - configure: Configures the operation before it runs, such as its partition, context, and a deadline for the
    ///     start of the response. It is called for each message: in each iteration, and again if the server requests
    ///     the text of a hash.
    /// - Returns: The sequence of updates. Its iterator throws the errors of `execute`, and `NetworkError` of kind
    ///   `.truncated` if the stream ends before the server's end marker, or before all announced parts have arrived.
    /// - Throws: `NetworkError` if the operation can't be sent.
    public func results<Input: Encodable, Output: Decodable & SendableMetatype>(
        of operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint? = nil,
        decoder: (any BodyDecoder)? = nil,
        maxPayloadBytes: Int = 64 << 20,
        _ configure: @escaping @Sendable (_ operation: inout NetworkOperation) -> Void = { _ in }
    ) throws(NetworkError) -> GraphQLUpdates<Output> {
        let prepared = try PreparedOperation(operation, at: endpoint, in: container)
        let source = IncrementalSource(
            client: self,
            request: prepared.request,
            endpoint: prepared.endpoint,
            maxPayloadBytes: maxPayloadBytes,
            configure: configure
        )
        let decoder = decoder ?? container.bodyDecoder
        return GraphQLUpdates(source: source, coalesces: true) { update throws(NetworkError) in
            try update.read().decode(
                Output.self,
                at: prepared.rootKey,
                prepared.endpoint.errorPolicy,
                with: decoder,
                hasNext: update.hasNext
            )
        }
    }

    /// Performs an operation whose result may be incremental, and returns its updates as JSON, for code that parses the
    /// result itself.
    ///
    /// Server errors are part of the updates, whatever the endpoint's policy.
    ///
    /// Each payload from the server produces one element. Retaining an element costs a copy of the lists that grow
    /// after it. If the response is not incremental, `response.response` has its text, with all digits of its numbers.
    ///
    /// - Parameters:
    ///   - request: The operation to perform.
    ///   - endpoint: The endpoint, or `nil` for the container's `graphQLEndpoint`.
    ///   - maxPayloadBytes: The maximum size of one part in bytes, 64 MiB by default. The whole result may have four
    ///     times this size.
    ///   - configure: Configures the operation before it runs. It is called for each message.
    /// - Throws: `NetworkError` of kind `.notConfigured` if there is no endpoint, and `.badRequest` if the variables
    ///   are not a JSON object.
    public func results(
        of request: GraphQLRequest,
        at endpoint: GraphQLEndpoint? = nil,
        maxPayloadBytes: Int = 64 << 20,
        _ configure: @escaping @Sendable (_ operation: inout NetworkOperation) -> Void = { _ in }
    ) throws(NetworkError) -> GraphQLUpdates<JSONValue> {
        try request.checkVariables()
        return try results(
            of: request,
            at: endpoint,
            maxPayloadBytes: maxPayloadBytes,
            coalesces: false,
            configure
        )
    }

    /// Performs an operation whose result may be incremental, and returns its updates as JSON.
    ///
    /// - Parameter coalesces: Whether payloads that arrive together produce one element.
    package func results(
        of request: GraphQLRequest,
        at endpoint: GraphQLEndpoint? = nil,
        maxPayloadBytes: Int = 64 << 20,
        coalesces: Bool,
        _ configure: @escaping @Sendable (_ operation: inout NetworkOperation) -> Void = { _ in }
    ) throws(NetworkError) -> GraphQLUpdates<JSONValue> {
        let source = IncrementalSource(
            client: self,
            request: request,
            endpoint: try container.endpoint(endpoint),
            maxPayloadBytes: maxPayloadBytes,
            configure: configure
        )
        return GraphQLUpdates(source: source, coalesces: coalesces) { update throws(NetworkError) in
            try update.value()
        }
    }
}

extension IncrementalSource.Update {
    /// Returns the response for a decoder.
    fileprivate func read() throws(NetworkError) -> ParsedGraphQLResponse {
        switch content {
        case .whole(let parsed, _): return parsed
        case .merged(let merge, var response):
            response.data = try merge.response.data()
            return try ParsedGraphQLResponse(reading: response)
        }
    }

    /// Returns the response as JSON.
    fileprivate func value() throws(NetworkError) -> GraphQLResponse<JSONValue> {
        switch content {
        case .whole(let parsed, let data):
            return GraphQLResponse(
                data: data,
                errors: parsed.errors,
                extensions: parsed.extensions,
                response: parsed.response
            )
        case .merged(let merge, let response):
            let data = merge.data == .null ? nil : merge.data
            guard data != nil || !merge.errors.isEmpty else {
                throw .malformed("the response has neither data nor errors", response)
            }
            return GraphQLResponse(
                data: data,
                errors: merge.errors,
                extensions: merge.extensions,
                response: response
            )
        }
    }
}
