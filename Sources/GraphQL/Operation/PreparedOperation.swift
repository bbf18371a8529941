import BeagleNet
import BeagleNetHTTP

/// A typed operation made ready to be sent: whoever holds it needs nothing of its variables any more. One object, as there is
/// too much of it to be copied by each who hands it on.
final class PreparedOperation: Sendable {
    let request: GraphQLRequest
    /// The document of the request, where its text is the operation's.
    let document: GraphQLDocument?
    /// The response key of what the output is made of; nil for all of the data.
    let rootKey: String?
    let endpoint: GraphQLEndpoint

    init<Input: Encodable, Output: Decodable>(
        _ operation: GraphQLOperation<Input, Output>,
        at endpoint: GraphQLEndpoint?,
        in dependencies: BeagleDependencies
    ) throws(NetworkError) {
        self.endpoint = try dependencies.endpoint(endpoint)
        let document = try GraphQLDocument.cached(operation.operationString)
        let definition = try document.operation(named: operation.operationName)
        rootKey = try operation.rootKey(of: definition)
        var request = try operation.request(of: definition, encoder: dependencies.graphQLEncoder)
        if self.endpoint.addsTypenames { request.query = document.withTypenames }
        self.document = self.endpoint.addsTypenames ? nil : document
        self.request = request
    }
}
