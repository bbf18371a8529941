import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

extension NetworkClient {
    /// This client for the operations of a scope: closing the scope cancels them.
    public func scoped(in scope: OperationScope) -> any NetworkClient {
        ScopedClient(client: self, scope: scope)
    }
}

/// Hands everything on, as operations of a scope.
struct ScopedClient: NetworkClient {
    let client: any NetworkClient
    let scope: OperationScope

    var container: BeagleDependencies { client.container }
    var options: TransferOptions { client.options }

    func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        // In the line before this returns: of two requests the later one comes later.
        let place = Result { () throws(NetworkError) in try scope.enter() }
        let task = Task {
            let result = await Result<NetworkResponse, NetworkError>.catching { () throws(NetworkError) in
                try await scope.run(place.get()) { [client] () throws(NetworkError) in
                    try await client.executeRequest(request)
                }
            }
            completion(result)
        }
        return TaskToken(task)
    }

    func executeRequest(_ request: Request) async throws(NetworkError) -> NetworkResponse {
        try await scope.run { [client] () throws(NetworkError) in try await client.executeRequest(request) }
    }

    func stream(_ request: Request) async throws(NetworkError) -> StreamingResponse {
        let response = try await scope.run { [client] () throws(NetworkError) in try await client.stream(request) }
        return response.read(in: scope)
    }

    nonisolated(nonsending) func run(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try await scope.run { [client] () throws(NetworkError) in try await client.run(operation, emit: emit) }.read(
            in: scope
        )
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
