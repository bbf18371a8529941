import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

extension NetworkClient {
    /// Returns this client with its operations owned by a scope: closing the scope cancels them.
    public func scoped(in scope: OperationScope) -> any NetworkClient {
        ScopedClient(wrapped: self, scope: scope)
    }
}

/// A client that forwards everything, as operations of a scope.
struct ScopedClient: NetworkClientWrapper {
    let wrapped: any NetworkClient
    let scope: OperationScope

    func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        // Enters the queue before this returns, so that two requests keep their order.
        let place = Result { () throws(NetworkError) in try scope.enter() }
        let task = Task {
            let result = await Result<NetworkResponse, NetworkError>.catching { () throws(NetworkError) in
                try await scope.run(place.get()) { [wrapped] () throws(NetworkError) in
                    try await wrapped.executeRequest(request)
                }
            }
            completion(result)
        }
        return AnyRequestToken(task)
    }

    nonisolated(nonsending) func run(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try await scope.run { [wrapped] () throws(NetworkError) in try await wrapped.run(operation, emit: emit) }.read(
            in: scope
        )
    }

    @discardableResult
    func watch(
        _ operation: NetworkOperation,
        ownedBy scopes: [OperationScope],
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)? {
        wrapped.watch(operation, ownedBy: scopes + [scope], receive)
    }
}

extension NetworkOperation.Result {
    /// Returns the same result, whose streamed body ends if the scope is closed.
    func read(in scope: OperationScope) -> NetworkOperation.Result {
        guard case .stream(let response) = content else { return self }
        var result = self
        result.content = .stream(response.read(in: scope))
        return result
    }
}

extension StreamingResponse {
    /// Returns the same response, whose body ends if the scope is closed.
    fileprivate func read(in scope: OperationScope) -> StreamingResponse {
        var response = self
        response.body = body.read(in: scope)
        return response
    }
}
