package import BeagleNetHTTP

/// A performer, at the end of a pipeline, of operations that are more than one request and response, such as
/// subscriptions.
///
/// The pipeline above it is the same for all operations: attempts, credentials, limits.
package protocol OperationPerformer: Sendable {
    /// Whether the message's header fields always reach the server with the operation, on every route that it may take.
    var sendsFields: Bool { get }

    /// Performs one attempt.
    ///
    /// Cancelling the task cancels it.
    ///
    /// - Parameters:
    ///   - operation: The operation, with its message as interceptors have changed it.
    ///   - transport: The transport for its transfers.
    ///   - emit: Receives results before the last.
    /// - Returns: The last result.
    /// - Throws: A `NetworkError` if there is no result, or no further one.
    func perform(
        _ operation: NetworkOperation,
        over transport: any HTTPTransport,
        _ emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result
}
