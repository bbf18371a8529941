import BeagleNet
import BeagleNetHTTP

/// A typed operation made ready to be sent: whoever holds it needs nothing of its variables any more. One object, as there is
/// too much of it to be copied by each who hands it on.
final class PreparedOperation: Sendable {
    let request: GraphQLRequest
    /// The response key of what the output is made of; nil for all of the data.
    let rootKey: String?
    let endpoint: GraphQLEndpoint

    init<Input: Encodable, Output: Decodable>(
        _ operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint?,
        in dependencies: BeagleDependencies
    ) throws(NetworkError) {
        self.endpoint = try dependencies.endpoint(endpoint)
        let definition = try operation.definition()
        rootKey = try operation.rootKey(of: definition)
        let request = try operation.request(of: definition, encoder: dependencies.graphQLEncoder)
        self.request = self.endpoint.addsTypenames ? try request.withTypenames() : request
    }
}

extension GraphQLRequest {
    fileprivate func withTypenames() throws(NetworkError) -> GraphQLRequest {
        var request = self
        request.query = try query.map { text throws(NetworkError) in try GraphQLDocument.cached(text).withTypenames }
        return request
    }
}
