public import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// A client that performs requests.
///
/// The library sends every request through `BeagleDependencies.networkClient`, so that an app can replace
/// `NetworkClientDefault` with its own client.
///
/// | call | for | returns |
/// |---|---|---|
/// | `fetch(_:as:)` | a screen or other JSON | the decoded value |
/// | `image(_:)` | one image; `ImageLoader` for those of a screen | the response |
/// | `submit(_:to:)` | a form | `Form.Reply`: accepted, or the field errors |
/// | `executeRequest(_:)` | any `Request` whose failure is an error | the response with a status in 200...299 |
/// | `send(_:)`, `send(_:as:)` | any `Request`: whatever its status, or decoded | the response, or the value |
/// | `stream(_:)`, `events(_:)` | a body that is large or doesn't end | the head and the body as it arrives, or events |
/// | `download(_:to:)`, `upload(from:to:)` | a file | the response |
/// | `run(_:emit:)`, `results(of:)`, `watch(_:in:_:)` | a `NetworkOperation`: policies, progress, changes | results |
///
/// A client of your own needs only `executeRequest(_:completion:)`. Everything else that is one request with one
/// response is built on it. A client that wraps another adopts `NetworkClientWrapper`, which also forwards the rest:
/// streams, subscriptions, watched operations, and the container for paths and endpoints.
@preconcurrency
public protocol NetworkClient: Sendable {
    /// The error of a failed request.
    typealias Error = NetworkError
    /// The result of a request: the response if its status is 200...299, otherwise the error.
    typealias NetworkResult = Result<NetworkResponse, NetworkError>
    /// A closure that receives the result, on a thread of the client.
    typealias RequestCompletion = @Sendable (NetworkResult) -> Void

    /// Starts a request and returns immediately.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - completion: Called exactly once. With a status outside 200...299 it receives a failure of kind `.status`,
    ///     which contains the response and data.
    /// - Returns: A token that cancels the request, or `nil` if nothing is running.
    @discardableResult
    func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)?

    /// Performs a request; cancelling the task cancels it.
    ///
    /// The default implementation calls `executeRequest(_:completion:)`.
    ///
    /// - Returns: The response, whose status is in 200...299.
    /// - Throws: `NetworkError`. For any other status, its kind is `.status`, and it contains the response and data.
    func executeRequest(_ request: Request) async throws(NetworkError) -> NetworkResponse

    /// Returns the head of the response as soon as it arrives, whatever its status, with a body that is read
    /// incrementally.
    ///
    /// The default implementation receives the whole body first, through `executeRequest`.
    ///
    /// - Throws: `NetworkError` if there is no response.
    func stream(_ request: Request) async throws(NetworkError) -> StreamingResponse

    /// Performs an operation; cancelling the task cancels it, unless it `isDetached`.
    ///
    /// Everything that has more than one complete response uses this method, and so does everything above the client:
    /// GraphQL, images, screens.
    ///
    /// The default implementation performs the operation's request through `executeRequest` if it is one request with
    /// one response. If this request finally reaches a `NetworkClientDefault`, it is performed as this operation, with
    /// its kind, partition, deadline and outbox.
    ///
    /// - Parameters:
    ///   - operation: The operation to perform.
    ///   - emit: Receives results before the settled one, such as progress or a stored response, on any thread.
    /// - Returns: The settled result.
    /// - Throws: `NetworkError`; of kind `.status`, with the response and data, for a status outside 200...299, and of
    ///   kind `.unsupported` if the client can't perform operations of this kind.
    nonisolated(nonsending) func run(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result

    /// Watches an operation; apps call `watch(_:in:_:)` instead.
    ///
    /// The default implementation fails each operation with an error of kind `.unsupported`.
    ///
    /// - Parameters:
    ///   - operation: The operation to watch.
    ///   - scopes: The scopes that own the operation, in addition to the container's `operationScope`.
    ///   - receive: Called on any thread, never concurrently, possibly before this call returns.
    /// - Returns: A token that stops watching, or `nil` after a failure that `receive` was given.
    @discardableResult
    func watch(
        _ operation: NetworkOperation,
        ownedBy scopes: [OperationScope],
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)?

    /// The container of paths, environments and coders, `Beagle.dependencies` by default.
    var container: BeagleDependencies { get }

    /// The timeouts, limits and policies of requests that don't set their own.
    var options: TransferOptions { get }
}

extension NetworkClient {
    /// The dependencies of the current scope.
    public var container: BeagleDependencies { Beagle.dependencies }

    /// The documented defaults.
    public var options: TransferOptions { TransferOptions() }

    /// Streams the complete response of `executeRequest`.
    public func stream(_ request: Request) async throws(NetworkError) -> StreamingResponse {
        StreamingResponse(try await send(request))
    }

    /// Performs a request through `executeRequest` with a completion.
    public func executeRequest(_ request: Request) async throws(NetworkError) -> NetworkResponse {
        guard !Task.isCancelled else { throw .cancelledBeforeStart }
        return try await withCancellableToken { executeRequest(request, completion: $0) }.get()
    }

    /// Performs the operation's request through `executeRequest`, or through `stream` if the operation is a stream.
    nonisolated(nonsending) public func run(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard operation.performer == nil, operation.isTransfer else {
            throw .notForwarded(.unsupported, "an operation of kind \(operation.kind)", by: self)
        }
        if operation.readsOnlyStore {
            throw .notForwarded(.notStored, "an operation that reads only stored responses", by: self)
        }
        if operation.isStream { return NetworkOperation.Result(.stream(try await stream(operation.forwardedRequest))) }
        return try await operation.revising { operation throws(NetworkError) in
            NetworkOperation.Result(try await executeRequest(operation.forwardedRequest))
        }
    }

    /// Fails with an error of kind `.unsupported`, because one request with one response can't be run again.
    @discardableResult
    public func watch(
        _ operation: NetworkOperation,
        ownedBy scopes: [OperationScope],
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)? {
        receive(.failure(.notForwarded(.unsupported, "a watched operation", by: self)))
        return nil
    }

    /// Performs an operation and ignores all but the settled result.
    nonisolated(nonsending) public func run(
        _ operation: NetworkOperation
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try await run(operation, emit: { _ in })
    }

    /// Performs a request and returns its response whatever the status; cancelling the task cancels it.
    ///
    /// - Throws: `NetworkError` if there is no response.
    public func send(_ request: Request) async throws(NetworkError) -> NetworkResponse {
        do {
            return try await executeRequest(request)
        } catch {
            guard let response = NetworkResponse(of: error) else { throw error }
            return response
        }
    }
}

extension NetworkError {
    /// Creates an error for a client that has only `executeRequest` and can't perform a call.
    ///
    /// - Parameter subject: The kind of call that it can't perform.
    static func notForwarded(_ kind: Kind, _ subject: String, by client: any NetworkClient) -> NetworkError {
        NetworkError(
            kind,
            during: .build,
            "\(type(of: client)) cannot perform \(subject) because it executes only single requests",
            advice: "adopt NetworkClientWrapper if it wraps another client; otherwise implement run and watch"
        )
    }
}
