public import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// Answers requests. Everything that needs the network asks the one in `BeagleDependencies.networkClient`, so that an
/// app can put its own in the place of `NetworkClientDefault`.
///
/// A client of your own needs only `executeRequest(_:completion:)`; everything else that is one request with one response
/// is built on it. One that wraps another adopts `NetworkClientWrapper`, which forwards the rest too: streams,
/// subscriptions, watched operations, and the container in which paths and endpoints are looked up.
@preconcurrency
public protocol NetworkClient: Sendable {
    /// Why a request failed.
    typealias Error = NetworkError
    /// What becomes of a request: the response where its status is 200...299, else the error.
    typealias NetworkResult = Result<NetworkResponse, NetworkError>
    /// Takes the result, on a thread of the client's.
    typealias RequestCompletion = @Sendable (NetworkResult) -> Void

    /// Starts a request and returns at once.
    ///
    /// - Parameters:
    ///   - request: what to ask.
    ///   - completion: called exactly once. With a status outside 200...299 it gets a failure of kind `.status` that
    ///     holds response and data.
    /// - Returns: the handle that cancels the request; nil where nothing is running.
    @discardableResult
    func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)?

    /// Performs a request; cancelling the task cancels it. A client that has only the form with a completion gets this one
    /// from it.
    ///
    /// - Returns: the response, whose status is in 200...299.
    /// - Throws: `NetworkError`; of kind `.status`, with response and data, for any other status.
    func executeRequest(_ request: Request) async throws(NetworkError) -> NetworkResponse

    /// Gives the head of the response as soon as it is there, whatever its status, and the body as it is read.
    ///
    /// A client that does not do this itself answers with the whole body, through `executeRequest`.
    ///
    /// - Throws: `NetworkError` where there is no response.
    func stream(_ request: Request) async throws(NetworkError) -> StreamingResponse

    /// Performs an operation; cancelling the task cancels it, unless it `isDetached`. Everything that is more than one
    /// whole answer goes through here, and so does everything above the client: GraphQL, images, screens.
    ///
    /// A client that does not do this itself performs the operation's request through `executeRequest`, where it is one
    /// message with one answer. If that is a request to a `NetworkClientDefault` in the end, it is performed as this
    /// operation: with its kind, partition, deadline and outbox.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - emit: hears what comes before the settled result, as progress or a stored answer, on any thread.
    /// - Returns: the settled result.
    /// - Throws: `NetworkError`; of kind `.status`, with response and data, for a status outside 200...299, and of kind
    ///   `.unsupported` where nothing answers operations of this kind.
    nonisolated(nonsending) func run(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result

    /// Watches an operation; see `watch(_:in:_:)`, which apps call.
    ///
    /// A client that does not do this itself fails each operation with an error of kind `.unsupported`.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - scopes: own the operation, beside the container's `operationScope`.
    ///   - receive: called on any thread, never twice at once, also from inside this call.
    /// - Returns: the handle that ends it; `nil` after a failure, which `receive` has been given.
    @discardableResult
    func watch(
        _ operation: NetworkOperation,
        ownedBy scopes: [OperationScope],
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)?

    /// Where paths, environments and coders are looked up; `Beagle.dependencies` by default.
    var container: BeagleDependencies { get }

    /// Timeouts, limits and policies of requests that bring none of their own.
    var options: TransferOptions { get }
}

extension NetworkClient {
    /// The dependencies of the current scope.
    public var container: BeagleDependencies { Beagle.dependencies }

    /// The documented defaults.
    public var options: TransferOptions { TransferOptions() }

    /// The whole answer of `executeRequest`, as a stream.
    public func stream(_ request: Request) async throws(NetworkError) -> StreamingResponse {
        StreamingResponse(try await send(request))
    }

    /// Performs a request through `executeRequest` with a completion.
    public func executeRequest(_ request: Request) async throws(NetworkError) -> NetworkResponse {
        guard !Task.isCancelled else { throw .cancelledBeforeStart }
        return try await withCancellableToken { executeRequest(request, completion: $0) }.get()
    }

    /// Performs the operation's request through `executeRequest`, or through `stream` where that is what it wants.
    nonisolated(nonsending) public func run(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard operation.performer == nil, NetworkOperation.Kind.transfers.contains(operation.kind) else {
            throw .notForwarded(.unsupported, "an operation of kind \(operation.kind)", by: self)
        }
        if operation.isForStoreAlone {
            throw .notForwarded(.notStored, "an operation that reads only stored responses", by: self)
        }
        if operation.isStream { return NetworkOperation.Result(.stream(try await stream(operation.carryingRequest))) }
        return try await operation.revising { operation throws(NetworkError) in
            NetworkOperation.Result(try await executeRequest(operation.carryingRequest))
        }
    }

    /// Fails, as one request with one response can't be run again.
    @discardableResult
    public func watch(
        _ operation: NetworkOperation,
        ownedBy scopes: [OperationScope],
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)? {
        receive(.failure(.notForwarded(.unsupported, "a watched operation", by: self)))
        return nil
    }

    /// Performs an operation of which only the settled result counts.
    nonisolated(nonsending) public func run(
        _ operation: NetworkOperation
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try await run(operation, emit: { _ in })
    }

    /// Performs a request and hands its response over whatever the status; cancelling the task cancels it.
    ///
    /// - Throws: `NetworkError` where there is no response.
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
    /// A client that has only `executeRequest` can't perform something.
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
