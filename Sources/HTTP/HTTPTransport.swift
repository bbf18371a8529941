/// Performs HTTP transfers: a message in, a response head and body out.
///
/// `CurlTransport` is the one that talks to the network; tests and other engines bring their own.
public protocol HTTPTransport: Sendable {
    /// Starts a transfer and returns at once.
    ///
    /// - Parameters:
    ///   - request: what to send and how to deliver the answer. Any HTTP status is a response, not an error.
    ///   - completion: called exactly once, on a thread of the transport's, also after `cancel()` and after the
    ///     transport was released. With `Delivery.stream` it is called when the head is complete.
    /// - Returns: the handle that cancels the transfer.
    @discardableResult
    func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken

    /// Performs a transfer; cancelling the task cancels it. A transport that has only the form with a completion gets
    /// this one from it.
    ///
    /// - Parameter request: what to send and how to deliver the answer.
    /// - Returns: the response, whatever its status.
    /// - Throws: `NetworkError` when there is no whole response.
    func perform(_ request: TransferRequest) async throws(NetworkError) -> TransferResponse
}

extension HTTPTransport {
    /// Performs a transfer through the form with a completion; nothing is begun for a task that was cancelled before.
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

/// A transport that is a value made of objects: two of the same objects are the same transport.
package protocol ComposedTransport: HTTPTransport {
    /// The objects, in an order that is always the same; none where one of its parts is no object.
    var parts: [any AnyObject & Sendable] { get }
}

extension HTTPTransport {
    /// The objects that tell it apart; none where nothing does.
    package var identity: [any AnyObject & Sendable] {
        if let composed = self as? any ComposedTransport { return composed.parts }
        // Anything can be taken for an object where there is Objective-C: its type has to be one.
        guard type(of: self) is any AnyObject.Type, let object = self as? any HTTPTransport & AnyObject else {
            return []
        }
        return [object]
    }
}

/// A transport that may put cookies of its own on messages, which then speak for somebody.
package protocol CookieTransport: HTTPTransport {
    /// Whether it has any place to keep cookies.
    var keepsCookies: Bool { get }
}

/// A transport that may answer in the place of the network, as from a recording.
package protocol OfflineTransport: HTTPTransport {
    /// Whether no message reaches a server, by the app's own choice.
    var isOffline: Bool { get }
}

/// A transport that knows its connections.
package protocol ConnectionTransport: HTTPTransport {
    /// How many are open now.
    func openConnections() async -> ConnectionCount
}

/// Open connections.
package struct ConnectionCount: Sendable, Equatable {
    /// Those on which something is asked or answered.
    package var active: Int
    /// Those that wait to be used again.
    package var idle: Int

    package init(active: Int = 0, idle: Int = 0) {
        self.active = active
        self.idle = idle
    }
}

/// Bridges a callback with a token to `async`, with one suspension: cancelling the task cancels the token, also when
/// it was cancelled before the token existed. A callback that is called twice, or let go without a call, does no harm.
package func withCancellableToken<Success: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    _ start: (@escaping @Sendable (Result<Success, NetworkError>) -> Void) -> (any RequestToken)?
) async -> Result<Success, NetworkError> {
    let slot = TokenSlot()
    // The caller's actor is named for the reason that `suspend` has.
    return await withTaskCancellationHandler {
        await withUnsafeContinuation(isolation: isolation) { continuation in
            let completion = OnceCompletion<Success> { continuation.resume(returning: $0) }
            if let token = start({ completion.give($0) }) { slot.fill(token) }
        }
    } onCancel: {
        slot.cancel()
    }
}
