import BeagleNet
import BeagleNetHTTP

/// A typed operation that is ready to be sent and no longer needs its input. It is a class because copying all of it at
/// each call would be expensive.
final class PreparedOperation: Sendable {
    let request: GraphQLRequest
    /// The request's document, if its text is unchanged from the operation's.
    let document: GraphQLDocument?
    /// The response key from which the output is decoded, or `nil` for all of the data.
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
