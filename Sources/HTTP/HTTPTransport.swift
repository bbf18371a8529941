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

/// A transport that is a value composed of objects. Two values with the same objects are the same transport.
package protocol ComposedTransport: HTTPTransport {
    /// The objects, always in the same order. Empty if any part isn't an object.
    var parts: [any AnyObject & Sendable] { get }
}

extension HTTPTransport {
    /// The objects that identify this transport. Empty if it can't be identified.
    package var identity: [any AnyObject & Sendable] {
        if let composed = self as? any ComposedTransport { return composed.parts }
        // With Objective-C, any value can be cast to `AnyObject`. Check that the type itself is a class.
        guard type(of: self) is any AnyObject.Type, let object = self as? any HTTPTransport & AnyObject else {
            return []
        }
        return [object]
    }
}

/// A transport that may add its own cookies to requests, which then act on behalf of a user.
package protocol CookieTransport: HTTPTransport {
    /// Whether the transport stores cookies anywhere.
    var storesCookies: Bool { get }
}

/// A transport that may respond without using the network, for example from a recording.
package protocol OfflineTransport: HTTPTransport {
    /// Whether the app configured it so that no request reaches a server.
    var isOffline: Bool { get }
}

/// A transport that can report its connections.
package protocol ConnectionTransport: HTTPTransport {
    /// Returns the number of open connections.
    func openConnections() async -> ConnectionCount
}

/// The number of open connections.
package struct ConnectionCount: Sendable, Equatable {
    /// The connections that are in use by a request or response.
    package var active: Int
    /// The connections that are kept for reuse.
    package var idle: Int

    package init(active: Int = 0, idle: Int = 0) {
        self.active = active
        self.idle = idle
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
