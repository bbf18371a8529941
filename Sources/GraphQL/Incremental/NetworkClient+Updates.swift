public import BeagleNet
import BeagleNetHTTP

extension NetworkClient {
    /// Performs an operation whose answer may come in pieces, as `@defer` and `@stream` ask for it: gives each time the
    /// whole answer so far.
    ///
    /// ```swift
    /// for try await update in try client.results(of: .fetchPost(withID: "1")) { show(update.response.data) }
    /// ```
    /// A server that knows no pieces answers once. Pieces that have come together are given together. What is deferred is
    /// not there at first: `Output` has to have optionals for it. Where that is the root field of which `Output` is made, `data`
    /// is nil until it has come.
    ///
    /// What is put together here loses the last digits of whole numbers beyond 64 bits, and of decimals beyond a `Double`.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - endpoint: where; the container's `graphQLEndpoint` where nil.
    ///   - decoder: how the value is made; the container's `bodyDecoder` where nil.
    ///   - maxPayloadBytes: the most bytes that one piece may have, 64 MiB by default, and a quarter of what all of an answer
    ///     may have together.
    ///   - configure: says more of the operation before it is run: partition, context, a deadline for the beginning of the
    ///     answer. Called for each message: in each iteration, and again where the server wants the text of a hash.
    /// - Returns: the answer so far, each time something comes. Its iterator throws what `execute` throws, and
    ///   `NetworkError` of kind `.truncated` where the stream ends before the server said so, or before all came that it
    ///   announced.
    /// - Throws: `NetworkError` where the operation cannot be sent.
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
        return GraphQLUpdates(source: source, isGathering: true) { answer throws(NetworkError) in
            try answer.read().decode(
                Output.self,
                at: prepared.rootKey,
                prepared.endpoint.errorPolicy,
                with: decoder,
                isUnfinished: answer.hasNext
            )
        }
    }

    /// Performs an operation whose answer may come in pieces, and gives each time the whole answer so far as JSON: for code
    /// that reads the answer itself. Errors of the server's are in it, whatever the endpoint's policy.
    ///
    /// Each payload of the server's gives one element. One that is kept costs a copy of the lists that grow after it. Of an
    /// answer that came whole `response.response` has the text, with all digits of its numbers.
    ///
    /// - Parameters:
    ///   - request: what to ask.
    ///   - endpoint: where; the container's `graphQLEndpoint` where nil.
    ///   - maxPayloadBytes: the most bytes that one piece may have, 64 MiB by default, and a quarter of what all of an answer
    ///     may have together.
    ///   - configure: says more of the operation before it is run. Called for each message that is sent.
    /// - Throws: `NetworkError` of kind `.notConfigured` where there is no endpoint, and `.badRequest` where the variables are no
    ///   JSON object.
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
            isGathering: false,
            configure
        )
    }

    /// The same.
    ///
    /// - Parameter isGathering: whether payloads that have come together give one element.
    package func results(
        of request: GraphQLRequest,
        at endpoint: GraphQLEndpoint? = nil,
        maxPayloadBytes: Int = 64 << 20,
        isGathering: Bool,
        _ configure: @escaping @Sendable (_ operation: inout NetworkOperation) -> Void = { _ in }
    ) throws(NetworkError) -> GraphQLUpdates<JSONValue> {
        let source = IncrementalSource(
            client: self,
            request: request,
            endpoint: try container.endpoint(endpoint),
            maxPayloadBytes: maxPayloadBytes,
            configure: configure
        )
        return GraphQLUpdates(source: source, isGathering: isGathering) { answer throws(NetworkError) in
            try answer.value()
        }
    }
}

extension IncrementalSource.Answer {
    /// The answer, for a decoder.
    fileprivate func read() throws(NetworkError) -> GraphQLAnswer {
        switch content {
        case .whole(let answer, _): return answer
        case .merged(let merge, var response):
            response.data = try merge.response.data()
            return try GraphQLAnswer(reading: response)
        }
    }

    /// The answer as JSON.
    fileprivate func value() throws(NetworkError) -> GraphQLResponse<JSONValue> {
        switch content {
        case .whole(let answer, let data):
            return GraphQLResponse(
                data: data,
                errors: answer.errors,
                extensions: answer.extensions,
                response: answer.response
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
