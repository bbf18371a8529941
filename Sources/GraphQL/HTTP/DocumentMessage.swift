import BeagleNet
import BeagleNetHTTP

/// One message of an operation: what is sent of its document, and how. What a server says of one message tells which is the
/// next, where documents go as their hashes (automatic persisted queries,
/// https://github.com/apollographql/apollo-link-persisted-queries, protocol), or in URLs.
package struct DocumentMessage: Sendable {
    /// What is asked.
    package let request: GraphQLRequest
    /// What is sent of the document.
    package let style: GraphQLEndpoint.DocumentStyle
    /// How; the endpoint's where nil.
    package var method: GraphQLEndpoint.QueryMethod?

    /// Why a server did not take a message.
    package enum Refusal {
        /// It does not know this hash yet.
        case unknown
        /// It knows no hashes.
        case unsupported
        /// Its URL is too long.
        case tooLong

        /// What an answer says of a hash; nil where it has data: then something was done.
        package init?(_ answer: GraphQLAnswer) {
            guard answer.data == nil else { return nil }
            self.init(answer.errors)
        }

        /// What errors say of a hash; nil where they are about something else, as those of a field are, which may be another
        /// server's.
        package init?(_ errors: [GraphQLError]) {
            let errors = errors.filter(\.path.isEmpty)
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

    /// A message.
    package init(
        _ request: GraphQLRequest,
        _ style: GraphQLEndpoint.DocumentStyle,
        method: GraphQLEndpoint.QueryMethod? = nil
    ) {
        self.request = request
        self.style = style
        self.method = method
    }

    /// Whether it is the hash of a text that may follow. With files the text goes with it, so that they are sent once; a server
    /// that knows no hashes may refuse it all the same.
    var isHash: Bool { style == .automatic && request.query != nil }

    /// What is sent after a refusal: the text, and the hash beside it where the server will know it the next time, or the same
    /// in a body. What registers a document is posted.
    ///
    /// - Returns: nil where nothing else can be sent.
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
    /// The same with the hash beside the text, so that the server knows it the next time.
    package func registration() throws(NetworkError) -> GraphQLRequest {
        var request = self
        request.extensions["persistedQuery"] = try GraphQLMessage.persistedQuery(of: query ?? "")
        return request
    }
}

extension GraphQLError {
    fileprivate func says(_ message: String, _ code: String) -> Bool { self.message == message || self.code == code }
}
