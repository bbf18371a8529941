package import BeagleNetHTTP
package import BeagleNetRequestBuilder

extension NetworkClient {
    /// Builds the request that `NetworkClientDefault` would send in this client's container, without the changes of
    /// interceptors.
    package func message(of request: Request) throws(NetworkError) -> TransferRequest {
        let builder = container.environment.applied(to: container.httpRequestBuilder, container.redactor)
        return try builder.build(request, options: options, .collect)
    }

    /// The identity of the message that the client would send first: also of the fields and options that its builder adds,
    /// such as credentials. `nil` if the client doesn't say, or if the message can't be built.
    func messageKey(of operation: NetworkOperation) -> NetworkOperation.Key? {
        if let wrapper = self as? any NetworkClientWrapper {
            var operation = operation
            wrapper.prepare(&operation)
            return wrapper.wrapped.messageKey(of: operation)
        }
        return (self as? NetworkClientDefault)?.builtKey(of: operation)
    }
}
