import BeagleNet
import BeagleNetHTTP

/// One message of an operation: what is sent of its document, and how. Where documents go as their hashes (automatic
/// persisted queries, https://github.com/apollographql/apollo-link-persisted-queries, protocol), what the server says of one
/// message tells which is the next.
package struct DocumentMessage {
    /// What is asked.
    package let request: GraphQLRequest
    /// What is sent of the document.
    package let style: GraphQLEndpoint.DocumentStyle
    /// How; the endpoint's where nil.
    package var method: GraphQLEndpoint.QueryMethod?

    /// Why a server did not take a hash for its document.
    package enum Refusal {
        /// It does not know this one yet.
        case unknown
        /// It knows none.
        case unsupported

        /// nil where these errors are no such refusal.
        package init?(_ errors: [GraphQLError]) {
            if errors.contains(where: { $0.says("PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND") }) {
                self = .unknown
            } else if errors.contains(where: { $0.says("PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED") })
            {
                self = .unsupported
            } else {
                return nil
            }
        }
    }

    /// Sends an operation as its endpoint says, and once more where the server does not take the hash of its document.
    ///
    /// - Parameters:
    ///   - send: sends one message.
    ///   - refusal: why the server did not take a hash, where what it gave says so; what `send` throws is looked into, too.
    static func send<Answer>(
        _ request: GraphQLRequest,
        at endpoint: GraphQLEndpoint,
        refusal: (Answer) async throws(NetworkError) -> Refusal?,
        _ send: (DocumentMessage) async throws(NetworkError) -> Answer
    ) async throws(NetworkError) -> Answer {
        guard endpoint.documents == .automatic, request.query != nil else {
            return try await send(DocumentMessage(request, endpoint.documents))
        }
        if endpoint.memory.knowsNoPersistedQueries {
            return try await send(DocumentMessage(request, .text))
        }
        let found: Refusal
        do throws(NetworkError) {
            let answer = try await send(DocumentMessage(request, .automatic))
            guard let refusal = try await refusal(answer) else { return answer }
            found = refusal
        } catch {
            guard let refusal = Refusal(error.graphQLErrors) else { throw error }
            found = refusal
        }
        if found == .unsupported { endpoint.memory.knowsNoPersistedQueries = true }
        return try await send(DocumentMessage(of: request, after: found))
    }

    /// What is sent to a server that did not take the hash: the text, and the hash beside it where the server will know it
    /// the next time. What registers a document is posted.
    package init(of request: GraphQLRequest, after refusal: Refusal) throws(NetworkError) {
        switch refusal {
        case .unknown: self.init(try request.registration(), .text, method: .post)
        case .unsupported: self.init(request, .text)
        }
    }

    /// A message.
    init(
        _ request: GraphQLRequest,
        _ style: GraphQLEndpoint.DocumentStyle,
        method: GraphQLEndpoint.QueryMethod? = nil
    ) {
        self.request = request
        self.style = style
        self.method = method
    }
}

extension GraphQLRequest {
    /// The same with the hash beside the text, so that the server knows it the next time.
    package func registration() throws(NetworkError) -> GraphQLRequest {
        var request = self
        request.extensions["persistedQuery"] = try GraphQLMessage.persistedQuery(of: query ?? "")
        return request
    }
}

extension GraphQLAnswer {
    /// Why the server did not take a hash; nil where it did.
    package var refusalOfHash: DocumentMessage.Refusal? { DocumentMessage.Refusal(errors) }
}

extension GraphQLError {
    fileprivate func says(_ message: String, _ code: String) -> Bool { self.message == message || self.code == code }
}
