/// A type that performs HTTP transfers: it takes a request and returns a response head and body.
///
/// `CurlTransport` uses the network. Tests and other engines provide their own transports.
public protocol HTTPTransport: Sendable {
    /// Starts a transfer and returns immediately.
    ///
    /// - Parameters:
    ///   - request: The request to send, and how to deliver the response. Any HTTP status is a response, not an error.
    ///   - completion: Called exactly once, on a thread of the transport, even after `cancel()` and after the transport
    ///     is released. With `Delivery.stream`, it is called when the head is complete.
    /// - Returns: A token that cancels the transfer.
    @discardableResult
    func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken

    /// Performs a transfer.
    ///
    /// Cancelling the task cancels the transfer. The default implementation calls `perform(_:completion:)`.
    ///
    /// - Parameter request: The request to send, and how to deliver the response.
    /// - Returns: The response, whatever its status.
    /// - Throws: `NetworkError` if there is no complete response.
    func perform(_ request: TransferRequest) async throws(NetworkError) -> TransferResponse
}

extension HTTPTransport {
    /// Performs a transfer by calling `perform(_:completion:)`.
    ///
    /// If the task is already cancelled, no transfer is started.
    public func perform(_ request: TransferRequest) async throws(NetworkError) -> TransferResponse {
        if Task.isCancelled {
            var error = NetworkError.cancelledBeforeStart
            error.request = request.head
            throw error
        }
        let result = await withCancellableToken { completion in
            perform(request, completion: completion)
        }
        return try result.get()
    }
}

/// Bridges a callback with a cancellation token to `async`, with a single suspension.
///
/// Cancelling the task cancels the token, even if the task was cancelled before the token existed. It is safe to call
/// the callback twice, or to release it without a call.
package func withCancellableToken<Success: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    _ start: (@escaping @Sendable (Result<Success, NetworkError>) -> Void) -> (any RequestToken)?
) async -> Result<Success, NetworkError> {
    let slot = TokenSlot()
    // The caller's actor is passed explicitly for the reason given at `suspend`.
    return await withTaskCancellationHandler {
        await withUnsafeContinuation(isolation: isolation) { continuation in
            let completion = OnceCompletion<Success> { continuation.resume(returning: $0) }
            if let token = start({ completion.complete($0) }) { slot.set(token) }
        }
    } onCancel: {
        slot.cancel()
    }
}
