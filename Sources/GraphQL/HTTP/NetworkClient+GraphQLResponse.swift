public import BeagleNet
import BeagleNetHTTP

extension NetworkClient {
    /// A closure that configures an operation before it runs.
    public typealias Configure = (_ operation: inout NetworkOperation) -> Void

    /// A closure that receives the progress of a transfer, on any thread.
    public typealias ProgressHandler = @Sendable (TransferRequest.Progress) -> Void

    /// Sends an operation to its endpoint and parses the response.
    func graphQLResponse(
        to request: GraphQLRequest,
        at endpoint: GraphQLEndpoint,
        _ configure: Configure
    ) async throws(NetworkError) -> ParsedGraphQLResponse {
        try request.checkIsNoSubscription()
        try request.checkKind()
        return try await graphQLResponse(to: networkOperation(for: request, at: endpoint, nil, configure, nil), nil)
    }

    /// Runs an operation and parses the response.
    func graphQLResponse(
        to operation: NetworkOperation,
        _ onProgress: ProgressHandler?
    ) async throws(NetworkError) -> ParsedGraphQLResponse {
        do throws(NetworkError) {
            let result = try await run(operation, emit: Self.progressEmitter(onProgress))
            guard let response = result.response else {
                throw NetworkError(
                    .protocol,
                    during: .response,
                    "the GraphQL operation ended without a complete response"
                )
            }
            return try ParsedGraphQLResponse(response, refusal: nil, from: result.source)
        } catch {
            guard error.kind == .status, let response = NetworkResponse(of: error) else { throw error }
            return try ParsedGraphQLResponse(response, refusal: error)
        }
    }

    private static func progressEmitter(_ onProgress: ProgressHandler?) -> @Sendable (NetworkOperation.Result) -> Void {
        guard let onProgress else { return { _ in } }
        return { result in
            if let progress = result.progress { onProgress(progress) }
        }
    }

    /// Creates the network operation of a request with a single response, and configures it. It is never inlined,
    /// because its temporaries would then take up space in the caller's async frame.
    @inline(never)
    func networkOperation(
        for request: GraphQLRequest,
        at endpoint: GraphQLEndpoint,
        _ document: GraphQLDocument?,
        _ configure: Configure,
        _ onProgress: ProgressHandler?
    ) throws(NetworkError) -> NetworkOperation {
        try request.checkIsNoSubscription()
        var operation = try networkOperation(for: request, at: endpoint, document)
        configure(&operation)
        if onProgress != nil { operation.reportsProgress = true }
        return operation
    }

    /// Creates the network operation of a request, with revisions for a server that refuses it in its first form.
    ///
    /// - Parameter document: The request's document, if it is already parsed.
    func networkOperation(
        for request: GraphQLRequest,
        at endpoint: GraphQLEndpoint,
        _ document: GraphQLDocument? = nil
    ) throws(NetworkError) -> NetworkOperation {
        if request.usesSubscriptionTransport(at: endpoint) {
            return try operationOverSubscriptionTransport(request, at: endpoint)
        }
        let url = try endpoint.target.url(in: container)
        let httpRequest = try endpoint.makeRequest(request, endpoint.documentStyle, nil, to: url, document)
        var operation = NetworkOperation(httpRequest, kind: .init(request.kind))
        operation.operationName = request.operationName
        if endpoint.documentStyle == .automatic || endpoint.queryMethod == .get && httpRequest.isGet {
            let message = DocumentMessage(request, endpoint.documentStyle)
            if message.isHash || httpRequest.isGet {
                operation.revision = DocumentRevision(message, at: endpoint, to: url, request: httpRequest)
            }
        }
        return operation
    }
}

extension GraphQLRequest {
    /// - Throws: `NetworkError` if the operation has more than one response.
    func checkIsNoSubscription() throws(NetworkError) {
        guard kind != .subscription else {
            throw NetworkError(
                .unsupported,
                during: .build,
                "a subscription has more than one result",
                advice: "use subscribe(to:)"
            )
        }
    }

    /// Returns whether the operation uses the transports of subscriptions. Queries and mutations with files use POST
    /// regardless.
    func usesSubscriptionTransport(at endpoint: GraphQLEndpoint) -> Bool {
        // The set is so small that a linear search is faster than hashing.
        endpoint.kindsOverSubscriptionTransports.contains { $0 == kind } && (files.isEmpty || kind == .subscription)
    }

    /// - Throws: `NetworkError` if the variables given by an app are not a JSON object. The variables of a
    ///   `GraphQLOperation` need no check.
    func checkVariables() throws(NetworkError) {
        if variables.isEmpty { return }
        do {
            if try TopLevelMembers(variables).isObject { return }
        } catch {
            let fault = "the variables are not valid JSON: \(error.reason) at byte \(error.offset)"
            throw NetworkError(.badRequest, during: .build, fault)
        }
        throw NetworkError(.badRequest, during: .build, "the variables are not a JSON object")
    }

    /// - Throws: `NetworkError` if the document's operation is of another kind than declared. A mutation could
    ///   otherwise be sent as a query, in a URL, and change data.
    func checkKind() throws(NetworkError) {
        guard let query else { return }
        let found = try GraphQLDocument.cached(query).operation(named: operationName).kind
        guard found == kind else {
            throw NetworkError(.badRequest, during: .build, "the document's operation is a \(found), not a \(kind)")
        }
    }

    /// Whether the operation uses `@defer` or `@stream`. `false` if its text is not known.
    package var usesIncrementalDelivery: Bool {
        get throws(NetworkError) {
            guard let query else { return false }
            let operation = try GraphQLDocument.cached(query).operation(named: operationName)
            return operation.usesDefer || operation.usesStream
        }
    }
}

extension NetworkOperation.Kind {
    /// Creates the kind of network operation for a kind of GraphQL operation.
    package init(_ kind: OperationKind) {
        self =
            switch kind {
            case .query: .query
            case .mutation: .mutation
            case .subscription: .subscription
            }
    }
}

extension Request {
    var isGet: Bool {
        if case .rawRequest(let data) = type { return data.method == "GET" }
        return false
    }
}
