public import BeagleNetHTTP

/// An interceptor that edits requests and observes their results without waiting, for example to add a header, collect
/// analytics or enforce a limit.
///
/// It runs on the caller's thread and on the transport's, and needs no task.
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
///
/// Below `.retry`, it sees each attempt; above, it sees each operation once. It must not block. In `willSend` of a
/// first attempt, task-local values are the caller's. `operation.logger` and `operation.redactor` are always the
/// client's.
public protocol RequestObserver: Interceptor {
    /// Called before a request is sent.
    ///
    /// - Parameter operation: The operation; later interceptors and the transport see changes to it.
    /// - Returns: The observation that receives the results; `nil` for none.
    /// - Throws: A `NetworkError` to send nothing and fail the operation.
    func willSend(_ operation: inout NetworkOperation) throws(NetworkError) -> (any RequestObservation)?

    /// Called with a stored response that an interceptor above returns or emits instead of a request.
    ///
    /// Does nothing by default.
    func didUse(stored result: NetworkOperation.Result, for operation: NetworkOperation)
}

/// An observation that receives the results of one request.
///
/// By default, its functions change nothing.
public protocol RequestObservation: AnyObject, Sendable {
    /// Called with each earlier result, such as progress or a stored response, on any thread.
    ///
    /// - Returns: The result for the interceptors above and the caller; `nil` to discard it.
    func willEmit(_ result: NetworkOperation.Result) -> NetworkOperation.Result?

    /// Called once with the outcome, on any thread, before the interceptors above and the caller receive it.
    ///
    /// - Parameters:
    ///   - outcome: The result or the error, which the observation may change.
    ///   - operation: The operation as it was sent.
    func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation)

    /// Returns whether handling the outcome requires waiting.
    ///
    /// If so, `resume` is called in a task instead of `didEnd`. `false` by default.
    func mustWait(after outcome: NetworkOperation.Outcome) -> Bool

    /// Takes the operation to another outcome, such as that of another attempt.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the request.
    ///   - next: The rest of the pipeline below the interceptor.
    ///   - emit: Receives earlier results.
    /// - Returns: The new result.
    /// - Throws: A `NetworkError` if there is no result.
    nonisolated(nonsending) func resume(
        after outcome: NetworkOperation.Outcome,
        next: Interceptor.Next,
        emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result
}

extension RequestObserver {
    /// `true`: an observer must not block.
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

    /// Calls `willSend`, the rest of the pipeline, and the observation.
    ///
    /// A pipeline does the same without calling this.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try await next.through(self, operation, emit)
    }
}

extension RequestObservation {
    /// Returns the same result.
    public func willEmit(_ result: NetworkOperation.Result) -> NetworkOperation.Result? { result }

    /// Changes nothing.
    public func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {}

    /// Returns `false`.
    public func mustWait(after outcome: NetworkOperation.Outcome) -> Bool { false }

    /// Returns or throws the same outcome.
    nonisolated(nonsending) public func resume(
        after outcome: NetworkOperation.Outcome,
        next: Interceptor.Next,
        emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try outcome.get()
    }
}
