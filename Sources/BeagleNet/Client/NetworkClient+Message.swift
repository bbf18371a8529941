package import BeagleNetHTTP
package import BeagleNetRequestBuilder

extension NetworkClient {
    /// The message that `NetworkClientDefault` would make of a request in this client's container: what is sent, as far as
    /// can be told from outside.
    package func message(of request: Request) throws(NetworkError) -> TransferRequest {
        let builder = container.environment.applied(to: container.httpRequestBuilder)
        return try builder.build(request, options: options, .collect)
    }
}
