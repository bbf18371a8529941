public import BeagleNetGraphQL

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension GraphQLOperation {
    /// The request that performs this operation at `Beagle.dependencies.graphQLEndpoint`, for a `URLSession` of the app's
    /// own. (The method of seed `003_31f48d2a11b2556d.txt`, whose address was a constant of the operation.)
    ///
    /// - Throws: `NetworkError` during `.build`: where no endpoint is set, the document is none, or the variables have no
    ///   JSON form.
    public func getURLRequest() throws -> URLRequest {
        try getURLRequest(at: nil)
    }

    /// The request that performs this operation.
    ///
    /// - Parameter endpoint: where; that of `Beagle.dependencies` where nil.
    public func getURLRequest(at endpoint: GraphQLEndpoint?) throws(NetworkError) -> URLRequest {
        let dependencies = Beagle.dependencies
        var request = try request(encoder: dependencies.graphQLEncoder)
        var endpoint = try dependencies.endpoint(endpoint)
        if endpoint.addsTypenames {
            request.query = try GraphQLDocument.cached(operationString).withTypenames
        }
        if endpoint.documents == .automatic {
            // Nobody would answer the server's wish for the text.
            request = try request.registration()
            endpoint.documents = .text
        }
        let message = try endpoint.makeRequest(request, in: dependencies)
        return try URLRequest(dependencies.networkClient.message(of: message))
    }
}
