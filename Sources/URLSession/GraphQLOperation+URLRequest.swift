public import BeagleNetGraphQL

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension GraphQLOperation {
    /// Returns a request for this operation at `Beagle.dependencies.graphQLEndpoint`, for use with the app's own
    /// `URLSession`.
    ///
    /// This is the method of seed `003_31f48d2a11b2556d.txt`, in which the URL was a constant of the operation.
    ///
    /// - Throws: `NetworkError` during `.build` if no endpoint is set, the document is invalid, or the variables have
    ///   no JSON form.
    public func getURLRequest() throws -> URLRequest {
        try getURLRequest(at: nil)
    }

    /// Returns a request for this operation.
    ///
    /// - Parameter endpoint: The endpoint of the request; `nil` uses the one of `Beagle.dependencies`.
    public func getURLRequest(at endpoint: GraphQLEndpoint?) throws(NetworkError) -> URLRequest {
        let dependencies = Beagle.dependencies
        var request = try request(encoder: dependencies.graphQLEncoder)
        var endpoint = try dependencies.endpoint(endpoint)
        if endpoint.addsTypenames {
            request.query = try GraphQLDocument.cached(operationString).withTypenames
        }
        if endpoint.documentStyle == .automatic {
            // Includes the text, because a `URLRequest` alone can't respond if the server asks for it.
            request = try request.registration()
            endpoint.documentStyle = .text
        }
        let message = try endpoint.makeRequest(request, in: dependencies)
        return try URLRequest(dependencies.networkClient.message(of: message))
    }
}
