package import BeagleNetHTTP

/// Performs operations at the end of a pipeline that are more than one message with one answer, as subscriptions.
///
/// What stands above it in the pipeline is the same for all: attempts, credentials, limits.
package protocol OperationPerformer: Sendable {
    /// Whether the header fields of the message reach the server with the operation, in every way that it may go.
    var sendsFields: Bool { get }

    /// Performs one attempt; cancelling the task cancels it.
    ///
    /// - Parameters:
    ///   - operation: what is asked, with the message that interceptors made of it.
    ///   - transport: performs its transfers.
    ///   - emit: takes results that are not the last.
    /// - Returns: the last result.
    /// - Throws: why there is none, or why no more came.
    func perform(
        _ operation: NetworkOperation,
        over transport: any HTTPTransport,
        _ emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result
}
