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
        _ configure: Configuring,
        _ onProgress: Progress? = nil
    ) async throws(NetworkError) -> (answer: GraphQLAnswer, source: NetworkOperation.Result.Source) {
        try request.check(endpoint)
        var operation = try networkOperation(for: request, at: endpoint)
        configure(&operation)
        if onProgress != nil { operation.reportsProgress = true }
        do throws(NetworkError) {
            let result = try await run(operation) { result in
                if let progress = result.progress { onProgress?(progress) }
            }
            guard let response = result.response else {
                throw NetworkError(
                    .protocol,
                    during: .response,
                    "the answer to a GraphQL operation is no whole message"
                )
            }
            return (try GraphQLAnswer(response, refusal: nil), result.source)
        } catch {
            guard error.kind == .status, let response = NetworkResponse(of: error) else { throw error }
            return (try GraphQLAnswer(response, refusal: error), .network)
        }
    }

    /// The operation of a request, with what follows where the server does not take it as it is.
    func networkOperation(
        for request: GraphQLRequest,
        at endpoint: GraphQLEndpoint
    ) throws(NetworkError) -> NetworkOperation {
        if request.isLive(at: endpoint) { return try liveOperation(request, at: endpoint) }
        let url = try endpoint.target.url(in: container)
        let revision = try DocumentRevision(DocumentMessage(request, endpoint.documents), at: endpoint, to: url)
        var operation = NetworkOperation(revision.made, kind: .init(request.kind))
        operation.operationName = request.operationName
        if revision.message.isHash || revision.made.isGet { operation.revision = revision }
        return operation
    }
}

extension GraphQLRequest {
    /// - Throws: `NetworkError` where what the document does is not what is said of it: it might go out as a query, in a
    ///   URL, and change something.
    fileprivate func check(_ endpoint: GraphQLEndpoint) throws(NetworkError) {
        guard kind != .subscription else {
            throw NetworkError(
                .unsupported,
                during: .build,
                "a subscription has more than one answer",
                advice: "read it with subscribe(to:)"
            )
        }
        try checkKind()
    }

    /// Whether it goes the way of subscriptions. A query or mutation with files is posted all the same.
    func isLive(at endpoint: GraphQLEndpoint) -> Bool {
        endpoint.kindsOverSubscriptions.contains(kind) && (files.isEmpty || kind == .subscription)
    }

    /// - Throws: `NetworkError` where what an app gives as variables is not the text of an object. Those of a `GraphQLOperation`
    ///   need no look.
    func checkVariables() throws(NetworkError) {
        if variables.isEmpty { return }
        do {
            if try AnswerMembers(variables).isObject { return }
        } catch {
            let advice = "\(error.reason) at byte \(error.offset)"
            throw NetworkError(.badRequest, during: .build, "the variables are no JSON", advice: advice)
        }
        throw NetworkError(.badRequest, during: .build, "the variables are no JSON object")
    }

    /// The same of what may have more than one answer.
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
