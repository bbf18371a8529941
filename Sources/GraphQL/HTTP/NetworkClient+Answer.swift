public import BeagleNet
import BeagleNetHTTP

extension NetworkClient {
    /// Says more of an operation before it is run.
    public typealias Configuring = (_ operation: inout NetworkOperation) -> Void

    /// Hears how far a transfer is, on any thread.
    public typealias Progress = @Sendable (TransferProgress) -> Void

    /// Sends an operation as its endpoint says, and reads what comes.
    func answer(
        to request: GraphQLRequest,
        at endpoint: GraphQLEndpoint,
        _ configure: Configuring
    ) async throws(NetworkError) -> GraphQLAnswer {
        try request.checkIsNoSubscription()
        try request.checkKind()
        return try await answer(to: networkOperation(for: request, at: endpoint, nil, configure, nil), nil)
    }

    /// Reads what comes for an operation.
    func answer(
        to operation: NetworkOperation,
        _ onProgress: Progress?
    ) async throws(NetworkError) -> GraphQLAnswer {
        do throws(NetworkError) {
            let result = try await run(operation, emit: Self.telling(onProgress))
            guard let response = result.response else {
                throw NetworkError(
                    .protocol,
                    during: .response,
                    "the GraphQL operation ended without a complete response"
                )
            }
            return try GraphQLAnswer(response, refusal: nil, from: result.source)
        } catch {
            guard error.kind == .status, let response = NetworkResponse(of: error) else { throw error }
            return try GraphQLAnswer(response, refusal: error)
        }
    }

    private static func telling(_ onProgress: Progress?) -> @Sendable (NetworkOperation.Result) -> Void {
        guard let onProgress else { return { _ in } }
        return { result in
            if let progress = result.progress { onProgress(progress) }
        }
    }

    /// The operation of a request that has one answer, as the caller wants it. Never inlined: who waits for the answer would have
    /// room for all that it is made of.
    @inline(never)
    func networkOperation(
        for request: GraphQLRequest,
        at endpoint: GraphQLEndpoint,
        _ document: GraphQLDocument?,
        _ configure: Configuring,
        _ onProgress: Progress?
    ) throws(NetworkError) -> NetworkOperation {
        try request.checkIsNoSubscription()
        var operation = try networkOperation(for: request, at: endpoint, document)
        configure(&operation)
        if onProgress != nil { operation.reportsProgress = true }
        return operation
    }

    /// The operation of a request, with what follows where the server does not take it as it is.
    ///
    /// - Parameter document: that of the request, where it is at hand.
    func networkOperation(
        for request: GraphQLRequest,
        at endpoint: GraphQLEndpoint,
        _ document: GraphQLDocument? = nil
    ) throws(NetworkError) -> NetworkOperation {
        if request.isLive(at: endpoint) { return try liveOperation(request, at: endpoint) }
        let url = try endpoint.target.url(in: container)
        let made = try endpoint.makeRequest(request, endpoint.documents, nil, to: url, document)
        var operation = NetworkOperation(made, kind: .init(request.kind))
        operation.operationName = request.operationName
        if endpoint.documents == .automatic || endpoint.queryMethod == .get && made.isGet {
            let message = DocumentMessage(request, endpoint.documents)
            if message.isHash || made.isGet {
                operation.revision = DocumentRevision(message, at: endpoint, to: url, made: made)
            }
        }
        return operation
    }
}

extension GraphQLRequest {
    /// - Throws: `NetworkError` where it has more than one answer.
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

    /// Whether it goes the way of subscriptions. A query or mutation with files is posted all the same.
    func isLive(at endpoint: GraphQLEndpoint) -> Bool {
        // Few enough to be looked at one by one, without a hash.
        endpoint.kindsOverSubscriptions.contains { $0 == kind } && (files.isEmpty || kind == .subscription)
    }

    /// - Throws: `NetworkError` where what an app gives as variables is not the text of an object. Those of a `GraphQLOperation`
    ///   need no look.
    func checkVariables() throws(NetworkError) {
        if variables.isEmpty { return }
        do {
            if try AnswerMembers(variables).isObject { return }
        } catch {
            let fault = "the variables are not valid JSON: \(error.reason) at byte \(error.offset)"
            throw NetworkError(.badRequest, during: .build, fault)
        }
        throw NetworkError(.badRequest, during: .build, "the variables are not a JSON object")
    }

    /// - Throws: `NetworkError` where what the document does is not what is said of it: it might go out as a query, in a
    ///   URL, and change something.
    func checkKind() throws(NetworkError) {
        guard let query else { return }
        let found = try GraphQLDocument.cached(query).operation(named: operationName).kind
        guard found == kind else {
            throw NetworkError(.badRequest, during: .build, "the document's operation is a \(found), not a \(kind)")
        }
    }

    /// Whether `@defer` or `@stream` stands in its text.
    package var mayComeInPieces: Bool {
        get throws(NetworkError) {
            guard let query else { return false }
            let operation = try GraphQLDocument.cached(query).operation(named: operationName)
            return operation.usesDefer || operation.usesStream
        }
    }
}

extension NetworkOperation.Kind {
    /// What an operation of GraphQL asks for.
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
