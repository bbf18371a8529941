package import BeagleNetHTTP
package import BeagleNetRequestBuilder

extension NetworkClient {
    /// Builds the request that `NetworkClientDefault` would send in this client's container, without the changes of
    /// interceptors.
    package func message(of request: Request) throws(NetworkError) -> TransferRequest {
        let builder = container.environment.applied(to: container.httpRequestBuilder, container.redactor)
        return try builder.build(request, options: options, .collect)
    }
}
