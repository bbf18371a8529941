public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// A client that wraps another one and forwards everything to it: requests, streams, GraphQL, subscriptions, forms,
/// watched operations, and the container.
///
/// ```swift
/// final class CountingClient: NetworkClientWrapper {
///     let wrapped: any NetworkClient
///     func prepare(_ operation: inout NetworkOperation) { counter.count(operation.request.url) }
/// }
/// ```
/// Register it, so that each scope of the container wraps its own client, with the scope's environment, headers and
/// credentials:
///
/// ```swift
/// dependencies.register(\.networkClient) { container in
///     CountingClient(NetworkClientDefault(dependencies: container))
/// }
/// ```
/// Every call goes through `prepare(_:)`, and every call but `watch` goes through `run(_:emit:)`. Implement one of
/// these to change the client's behavior. Your own `executeRequest(_:completion:)` is called only by code that calls it
/// directly.
public protocol NetworkClientWrapper: NetworkClient {
    /// The client that performs everything.
    var wrapped: any NetworkClient { get }

    /// Inspects, and may change, each operation before the wrapped client performs it.
    ///
    /// It is called once for each call, in its task or on its thread: return quickly. The default implementation does
    /// nothing.
    func prepare(_ operation: inout NetworkOperation)
}

extension NetworkClientWrapper {
    /// The wrapped client's container.
    public var container: BeagleDependencies { wrapped.container }

    /// The wrapped client's options.
    public var options: TransferOptions { wrapped.options }

    /// Does nothing.
    public func prepare(_ operation: inout NetworkOperation) {}

    /// Starts a request through `run(_:emit:)`, in a task that the token cancels.
    @discardableResult
    public func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        // The request may begin, and end, before this returns.
        let once = OnceCompletion<NetworkResponse>(isHeld: true, completion)
        defer { once.open() }
        return AnyRequestToken(
            Task.starting(on: nil) {
                once.complete(
                    await .catching { () throws(NetworkError) in try await executeRequest(request) }
                )
            }
        )
    }

    /// Performs a request through `run(_:emit:)`.
    public func executeRequest(_ request: Request) async throws(NetworkError) -> NetworkResponse {
        guard let response = try await run(NetworkOperation(request)).response else { throw .noResponse }
        return response
    }

    /// Streams a response through `run(_:emit:)`.
    public func stream(_ request: Request) async throws(NetworkError) -> StreamingResponse {
        try await run(.stream(request)).streamed()
    }

    /// Prepares the operation and runs it with the wrapped client.
    nonisolated(nonsending) public func run(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        prepare(&operation)
        return try await wrapped.run(operation, emit: emit)
    }

    /// Prepares the operation and watches it with the wrapped client.
    @discardableResult
    public func watch(
        _ operation: NetworkOperation,
        ownedBy scopes: [OperationScope],
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)? {
        var operation = operation
        prepare(&operation)
        return wrapped.watch(operation, ownedBy: scopes, receive)
    }
}

extension NetworkOperation.Result {
    /// Returns the streamed response, or a complete response as a stream.
    ///
    /// - Throws: `NetworkError` if there is no response.
    func streamed() throws(NetworkError) -> StreamingResponse {
        switch content {
        case .stream(let response): response
        case .response(let response): StreamingResponse(response)
        case .progress, .connection: throw .noResponse
        }
    }
}
