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
        if endpoint.documents == .automatic, request.query != nil, !request.isLive(at: endpoint) {
            return try await answerByHash(to: request, at: endpoint, configure, onProgress)
        }
        return try await answer(to: request, at: endpoint, configure, onProgress, endpoint.documents)
    }

    /// Sends the hash alone, and the text beside it where the server does not know the hash yet (automatic persisted
    /// queries, https://github.com/apollographql/apollo-link-persisted-queries, protocol).
    private func answerByHash(
        to request: GraphQLRequest,
        at endpoint: GraphQLEndpoint,
        _ configure: Configuring,
        _ onProgress: Progress? = nil
    ) async throws(NetworkError) -> (answer: GraphQLAnswer, source: NetworkOperation.Result.Source) {
        if endpoint.memory.knowsNoPersistedQueries {
            return try await answer(to: request, at: endpoint, configure, onProgress, .text)
        }
        let first = await Result<_, NetworkError>.catching { () throws(NetworkError) in
            try await answer(to: request, at: endpoint, configure, onProgress, .automatic)
        }
        switch first.refusalOfHash {
        case nil: return try first.get()
        case .unsupported:
            endpoint.memory.knowsNoPersistedQueries = true
            return try await answer(to: request, at: endpoint, configure, onProgress, .text)
        case .unknown:
            return try await answer(
                to: request.registration(),
                at: endpoint,
                configure,
                onProgress,
                .text,
                method: .post
            )
        }
    }

    /// Sends one message. A query whose URL is too long for the server is sent in a body.
    private func answer(
        to request: GraphQLRequest,
        at endpoint: GraphQLEndpoint,
        _ configure: Configuring,
        _ onProgress: Progress?,
        _ style: GraphQLEndpoint.DocumentStyle,
        method: GraphQLEndpoint.QueryMethod? = nil
    ) async throws(NetworkError) -> (answer: GraphQLAnswer, source: NetworkOperation.Result.Source) {
        var operation: NetworkOperation
        if request.isLive(at: endpoint) {
            operation = try liveOperation(request, at: endpoint)
        } else {
            let message = try endpoint.makeRequest(request, style: style, method: method, in: container)
            operation = NetworkOperation(message, kind: .init(request.kind))
            operation.operationName = request.operationName
        }
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
            if response.status.code == 414, operation.request.isGet {
                return try await answer(to: request, at: endpoint, configure, onProgress, style, method: .post)
            }
            return (try GraphQLAnswer(response, refusal: error), .network)
        }
    }
}

extension GraphQLRequest {
    /// The same with the hash beside the text, so that the server knows it the next time.
    package func registration() throws(NetworkError) -> GraphQLRequest {
        var request = self
        request.extensions["persistedQuery"] = try GraphQLMessage.persistedQuery(of: query ?? "")
        return request
    }

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

    /// Whether it goes the way of subscriptions. One with files is posted all the same.
    func isLive(at endpoint: GraphQLEndpoint) -> Bool {
        endpoint.kindsOverSubscriptions.contains(kind) && files.isEmpty
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
    init(_ kind: OperationKind) {
        self =
            switch kind {
            case .query: .query
            case .mutation: .mutation
            case .subscription: .subscription
            }
    }
}

extension Request {
    fileprivate var isGet: Bool {
        if case .rawRequest(let data) = type { return data.method == "GET" }
        return false
    }
}

/// Why a server did not take a hash for its document.
package enum RefusalOfHash {
    /// It does not know this one yet.
    case unknown
    /// It knows none.
    case unsupported

    package init?(_ errors: [GraphQLError]) {
        if errors.contains(where: { $0.says("PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND") }) {
            self = .unknown
        } else if errors.contains(where: { $0.says("PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED") }) {
            self = .unsupported
        } else {
            return nil
        }
    }
}

extension GraphQLAnswer {
    /// Why the server did not take a hash; nil where it did.
    package var refusalOfHash: RefusalOfHash? { RefusalOfHash(errors) }
}

extension GraphQLError {
    fileprivate func says(_ message: String, _ code: String) -> Bool { self.message == message || self.code == code }
}

extension Result<(answer: GraphQLAnswer, source: NetworkOperation.Result.Source), NetworkError> {
    fileprivate var refusalOfHash: RefusalOfHash? {
        switch self {
        case .success(let answered): answered.answer.refusalOfHash
        case .failure(let error): RefusalOfHash(error.graphQLErrors)
        }
    }
}
