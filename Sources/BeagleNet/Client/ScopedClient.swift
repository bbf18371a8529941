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
        scope.start(completion: completion) { [client] () throws(NetworkError) in
            try await client.executeRequest(request)
        }
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
        try await scope.result { [client] () throws(NetworkError) in try await client.run(operation, emit: emit) }
    }
}

extension OperationScope {
    /// Performs something that the scope owns, in a task of its own.
    func start<Value: Sendable>(
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void,
        _ body: @escaping @Sendable () async throws(NetworkError) -> Value
    ) -> any RequestToken {
        // In the line before this returns: of two requests the later one comes later.
        let place = Result { () throws(NetworkError) in try enter() }
        return TaskToken(
            Task {
                completion(
                    await .catching { () throws(NetworkError) in
                        try await self.run(place.get(), body)
                    }
                )
            }
        )
    }

    /// What comes of an operation that the scope owns, as it does the body of a streamed answer.
    nonisolated(nonsending) func result(
        _ body: @escaping @Sendable () async throws(NetworkError) -> NetworkOperation.Result
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var result = try await run(body)
        if case .stream(let response) = result.content { result.content = .stream(response.read(in: self)) }
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
