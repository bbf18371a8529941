public import BeagleNetHTTP

/// Edits requests and observes their results, without waiting: a header, analytics, a limit. It runs on the caller's thread
/// and on the transport's, and costs no task.
///
/// ```swift
/// struct SessionHeader: RequestObserver {
///     let id: String
///
///     func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
///         operation.transfer.head.headerFields[.session] = id
///         return nil
///     }
/// }
/// ```
/// Below `.retry` it sees each attempt, above it each operation once. It must not block. Task-local values are the caller's
/// in `willSend` of a first attempt; `operation.logger` and `operation.redactor` are always the client's.
public protocol RequestObserver: Interceptor {
    /// Called before a request is sent.
    ///
    /// - Parameter operation: the operation; the interceptors after this one, and the transport, see changes.
    /// - Returns: The observation that receives the results; `nil` for none.
    /// - Throws: `NetworkError`; nothing is sent then.
    func willSend(_ operation: inout NetworkOperation) throws(NetworkError) -> (any RequestObservation)?

    /// Called with a stored response that an interceptor above returns or emits in place of a request. Does nothing by
    /// default.
    func didUse(stored result: NetworkOperation.Result, for operation: NetworkOperation)
}

/// Receives what comes of one request. All functions have defaults that change nothing.
public protocol RequestObservation: AnyObject, Sendable {
    /// Called with each earlier result, such as progress or a stored response, on any thread.
    ///
    /// - Returns: The result for the interceptors above and the caller; `nil` to discard it.
    func willEmit(_ result: NetworkOperation.Result) -> NetworkOperation.Result?

    /// Called once with the outcome, on any thread, before the interceptors above and the caller receive it.
    ///
    /// - Parameters:
    ///   - outcome: the result or the error, which it may change.
    ///   - operation: the operation as it was sent.
    func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation)

    /// Whether the outcome calls for more than can be done without waiting: `resume` is then called in a task, in place of
    /// `didEnd`. `false` by default.
    func mustWait(after outcome: NetworkOperation.Outcome) -> Bool

    /// Takes the operation to another outcome, such as that of another attempt.
    ///
    /// - Parameters:
    ///   - outcome: what came of the request.
    ///   - next: the rest of the pipeline below the interceptor.
    ///   - emit: receives earlier results.
    /// - Returns: The result.
    /// - Throws: `NetworkError` if there is none.
    nonisolated(nonsending) func resume(
        after outcome: NetworkOperation.Outcome,
        next: Interceptor.Next,
        emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result
}

extension RequestObserver {
    /// It doesn't block.
    public var neverBlocks: Bool { true }

    /// Does nothing.
    public func didUse(stored result: NetworkOperation.Result, for operation: NetworkOperation) {}

    /// Calls `willSend`.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        do throws(NetworkError) {
            return .proceed(try willSend(&operation))
        } catch {
            return .fail(error)
        }
    }

    /// Calls `willSend`, the rest of the pipeline, and the observation; a pipeline does so without it.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try await next.through(self, operation, emit)
    }
}

extension RequestObservation {
    /// The same result.
    public func willEmit(_ result: NetworkOperation.Result) -> NetworkOperation.Result? { result }

    /// Changes nothing.
    public func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {}

    /// It never does.
    public func mustWait(after outcome: NetworkOperation.Outcome) -> Bool { false }

    /// The same outcome.
    nonisolated(nonsending) public func resume(
        after outcome: NetworkOperation.Outcome,
        next: Interceptor.Next,
        emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try outcome.get()
    }
}
