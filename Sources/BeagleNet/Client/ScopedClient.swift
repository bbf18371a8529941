import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

extension NetworkClient {
    /// This client for the operations of a scope: closing the scope cancels them.
    public func scoped(in scope: OperationScope) -> any NetworkClient {
        ScopedClient(wrapped: self, scope: scope)
    }
}

/// Hands everything on, as operations of a scope.
struct ScopedClient: NetworkClientWrapper {
    let wrapped: any NetworkClient
    let scope: OperationScope

    func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        // In the line before this returns: of two requests the later one comes later.
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
    /// The same result; where its answer is streamed, the scope ends the body where it is closed before.
    func read(in scope: OperationScope) -> NetworkOperation.Result {
        guard case .stream(let response) = content else { return self }
        var result = self
        result.content = .stream(response.read(in: scope))
        return result
    }
}

extension StreamingResponse {
    /// The same response, whose body the scope ends where it is closed before.
    fileprivate func read(in scope: OperationScope) -> StreamingResponse {
        var response = self
        response.body = body.read(in: scope)
        return response
    }
}
