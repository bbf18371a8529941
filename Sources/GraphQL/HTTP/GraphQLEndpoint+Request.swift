import BeagleNet
import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension GraphQLEndpoint {
    /// The accepted media types of a response, the specification's own first (GraphQL over HTTP, 5.2).
    package static let accept = "application/graphql-response+json, application/json;q=0.9"

    private static let acceptField = ["Accept": accept]

    /// Creates the HTTP request of an operation.
    ///
    /// - Parameters:
    ///   - style: The form in which the document is sent, or `nil` for the endpoint's.
    ///   - dependencies: The container that resolves paths.
    package func makeRequest(
        _ request: GraphQLRequest,
        style: DocumentStyle? = nil,
        method: QueryMethod? = nil,
        accept: String = GraphQLEndpoint.accept,
        in dependencies: BeagleDependencies
    ) throws(NetworkError) -> Request {
        try makeRequest(request, style ?? documentStyle, method, accept, to: target.url(in: dependencies))
    }

    /// Creates the HTTP request of an operation to a URL.
    ///
    /// - Parameter document: The operation's document, if it is already parsed.
    func makeRequest(
        _ request: GraphQLRequest,
        _ style: DocumentStyle,
        _ method: QueryMethod?,
        _ accept: String = GraphQLEndpoint.accept,
        to url: URL,
        _ document: GraphQLDocument? = nil
    ) throws(NetworkError) -> Request {
        let message = try GraphQLMessage(request, style, document)
        var url = url
        if let suffix = message.pathSuffix { url = try url.appending(id: suffix) }
        if !request.files.isEmpty { return form(url, try request.form(of: message.json), accept) }
        // A subscription uses GET only if the caller asks for it.
        let method = method ?? (request.kind == .query ? queryMethod : .post)
        if request.kind != .mutation, method == .get {
            let items = message.queryItems
            if url.byteCount(with: items) <= maxURLBytes { return get(url, items, accept) }
        }
        return post(url, message.json, accept)
    }

    private func get(_ url: URL, _ items: [URLQueryItem], _ accept: String) -> Request {
        let data = Request.RequestData(method: "GET", headers: preflightFields(accept))
        return Request(url: url, type: .rawRequest(data), options: options, query: items)
    }

    private func post(_ url: URL, _ body: Data, _ accept: String) -> Request {
        let data = Request.RequestData(
            method: "POST",
            headers: fields(accept),
            body: .data(body, contentType: "application/json")
        )
        return Request(url: url, type: .rawRequest(data), options: options)
    }

    private func form(_ url: URL, _ form: [FormField], _ accept: String) -> Request {
        let data = Request.RequestData(method: "POST", headers: preflightFields(accept), body: .multipart(form))
        return Request(url: url, type: .rawRequest(data), options: options)
    }

    /// Returns the header fields of a request that a browser would send to another site without a preflight.
    private func preflightFields(_ accept: String) -> [String: String] {
        preflightField.map { fields(accept).merging([$0: "true"]) { app, _ in app } } ?? fields(accept)
    }

    /// Returns the header fields of a request. Fields set by the app override the defaults, ignoring case.
    private func fields(_ accept: String) -> [String: String] {
        if headers.isEmpty { return accept == Self.accept ? Self.acceptField : ["Accept": accept] }
        return headers.keys.contains { $0.lowercased() == "accept" }
            ? headers : headers.merging(["Accept": accept]) { app, _ in app }
    }
}

extension URL {
    /// Returns the length of this URL with query items, in bytes after percent-encoding.
    fileprivate func byteCount(with items: [URLQueryItem]) -> Int {
        items.reduce(absoluteString.utf8.count) { count, item in
            (item.name.utf8.count + 2 + (item.value ?? "").utf8.reduce(0) { $0 + ($1.isUnreserved ? 1 : 3) }) + count
        }
    }

    fileprivate func appending(id: String) throws(NetworkError) -> URL {
        guard id.utf8.allSatisfy({ $0.isUnreserved || $0 == UInt8(ascii: ":") }) else {
            throw NetworkError(
                .badRequest,
                during: .build,
                "the document ID has characters that a URL path cannot have"
            )
        }
        return appending(path: id)
    }
}
