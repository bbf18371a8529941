import BeagleNet
import BeagleNetHTTP

/// A typed operation made ready to be sent: whoever holds it needs nothing of its variables any more.
struct PreparedOperation<Output: Decodable>: Sendable {
    let request: GraphQLRequest
    /// The response key of what `Output` is made of; nil for all of the data.
    let rootKey: String?
    let endpoint: GraphQLEndpoint

    init<Input: Encodable>(
        _ operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint?,
        in dependencies: BeagleDependencies
    ) throws(NetworkError) {
        self.endpoint = try dependencies.endpoint(endpoint)
        rootKey = try operation.rootKey()
        var request = try operation.request(encoder: dependencies.graphQLEncoder)
        if self.endpoint.addsTypenames {
            request.query = try GraphQLDocument.cached(operation.operationString).withTypenames
        }
        self.request = request
    }
}
