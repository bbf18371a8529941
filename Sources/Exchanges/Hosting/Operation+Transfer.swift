import BeagleNet
import BeagleNetGraphQL
import BeagleNetHTTP
import BeagleNetURLSession
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Operation {
    /// Returns the GraphQL endpoint with the URL and header fields of the operation's request.
    ///
    /// - Parameter shared: The endpoint whose transports and open connections the operation shares with others.
    func endpoint(like shared: GraphQLEndpoint = GraphQLEndpoint("/")) throws(NetworkError) -> GraphQLEndpoint {
        guard let url = request.url else {
            throw NetworkError(.badURL, during: .build, "the operation's request has no URL")
        }
        var endpoint = shared
        endpoint.target = url
        endpoint.headers = request.allHTTPHeaderFields ?? [:]
        return endpoint
    }

    /// Returns the operation as a GraphQL request.
    func message() throws(NetworkError) -> GraphQLRequest {
        let args = args
        return GraphQLRequest(
            query: args.query,
            operationName: args.operationName,
            kind: OperationKind(kind),
            variables: try args.variables.map { variables throws(NetworkError) in
                try JSONValue.object(variables).data()
            } ?? Data(),
            extensions: args.extensions ?? [:]
        )
    }

    /// Returns the operation as an HTTP message.
    func transfer(options: TransferOptions) throws(NetworkError) -> TransferRequest {
        let operation = withoutForeignFields
        var request = operation.request
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if request.value(forHTTPHeaderField: "Accept") == nil {
            request.setValue(GraphQLEndpoint.accept, forHTTPHeaderField: "Accept")
        }
        var members: [String: JSONValue] = ["query": .string(args.query)]
        members["operationName"] = args.operationName.map { .string($0) }
        members["variables"] = args.variables.map { .object($0) }
        members["extensions"] = args.extensions.map { .object($0) }
        request.httpBody = try JSONValue.object(members).data()
        var transfer = try TransferRequest(request)
        transfer.options = options
        transfer.originScopedFields.formUnion(operation.scopedFields)
        return transfer
    }
}

extension OperationKind {
    init(_ kind: Operation.Kind) {
        self =
            switch kind {
            case .query, .teardown: .query
            case .mutation: .mutation
            case .subscription: .subscription
            }
    }
}

extension NetworkOperation.Kind {
    init(_ kind: Operation.Kind) {
        self =
            switch kind {
            case .query, .teardown: .query
            case .mutation: .mutation
            case .subscription: .subscription
            }
    }
}
