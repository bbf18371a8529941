import BeagleNet
import BeagleNetHTTP

/// One request message of an operation: how its document is sent.
///
/// If the server refuses a message with a hash (automatic persisted queries,
/// https://github.com/apollographql/apollo-link-persisted-queries, protocol) or with a long URL, `next(after:)` returns
/// the message to send instead.
package struct DocumentMessage: Sendable {
    /// The operation.
    package let request: GraphQLRequest
    /// The form in which the document is sent.
    package let style: GraphQLEndpoint.DocumentStyle
    /// The HTTP method, or `nil` for the endpoint's.
    package var method: GraphQLEndpoint.QueryMethod?

    /// A reason for which a server refused a message.
    package enum Refusal {
        /// The server doesn't know this hash yet.
        case unknown
        /// The server doesn't support persisted queries.
        case unsupported
        /// The URL is too long.
        case tooLong

        /// Returns the reason for which a response refuses a hash. `nil` if the response has data, because the
        /// operation was then executed.
        package init?(_ parsed: ParsedGraphQLResponse) {
            guard parsed.data == nil else { return nil }
            self.init(parsed.errors)
        }

        /// Returns the reason for which errors refuse a hash. `nil` if the errors have another subject. Errors of
        /// fields are ignored, because they may come from another server.
        package init?(_ errors: [GraphQLError]) {
            let errors = errors.filter(\.path.isEmpty)
            if errors.contains(where: { $0.matches("PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND") }) {
                self = .unknown
            } else if errors.contains(where: {
                $0.matches("PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED")
            }) {
                self = .unsupported
            } else {
                return nil
            }
        }
    }

    /// Creates a message.
    package init(
        _ request: GraphQLRequest,
        _ style: GraphQLEndpoint.DocumentStyle,
        method: GraphQLEndpoint.QueryMethod? = nil
    ) {
        self.request = request
        self.style = style
        self.method = method
    }

    /// Whether the message contains only the hash of a text that can be sent later.
    ///
    /// A message with files also contains the text, so that the files are sent only once. A server that doesn't support
    /// persisted queries may still refuse it.
    var isHash: Bool { style == .automatic && request.query != nil }

    /// Returns the message to send after a refusal: the text, with the hash if the server can register it, or the same
    /// message in a body. A message that registers a document is sent with POST.
    ///
    /// - Returns: `nil` if there is no other message to send.
    package func next(after refusal: Refusal) throws(NetworkError) -> DocumentMessage? {
        switch refusal {
        case .unknown:
            isHash && request.files.isEmpty ? DocumentMessage(try request.registration(), .text, method: .post) : nil
        case .unsupported: isHash ? DocumentMessage(request, .text, method: method) : nil
        case .tooLong: method == .post ? nil : DocumentMessage(request, style, method: .post)
        }
    }
}

extension GraphQLRequest {
    /// Returns the request with both hash and text, so that the server registers the document.
    package func registration() throws(NetworkError) -> GraphQLRequest {
        var request = self
        request.extensions["persistedQuery"] = try GraphQLMessage.persistedQuery(of: query ?? "")
        return request
    }
}

extension GraphQLError {
    fileprivate func matches(_ message: String, _ code: String) -> Bool { self.message == message || self.code == code }
}
