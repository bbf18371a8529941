import BeagleNetDependencies
public import BeagleNetHTTP
public import Dispatch

extension NetworkClientDefault {
    /// Hears all that comes of an operation on a queue, in order; see `watch(_:_:)`.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - owner: the scope that owns it, if any.
    ///   - queue: a serial one. Cancelling the token on it leaves nothing to be heard.
    ///   - receive: hears what comes.
    /// - Returns: the handle that ends it; nil where the message could not be built, or the scope is closed, which `receive`
    ///   is told.
    @discardableResult
    public func watch(
        _ operation: NetworkOperation,
        in owner: OperationScope? = nil,
        deliverOn queue: DispatchQueue,
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)? {
        let isCancelled = Lock(false)
        let caller = Caller(of: container)
        let token = watch(operation, in: owner) { event in
            queue.async {
                if !isCancelled.withLock({ $0 }) { caller.run { receive(event) } }
            }
        }
        return token.map { token in
            DeliveryToken {
                isCancelled.withLock { $0 = true }
                token.cancel()
            }
        }
    }

    /// Hears all that comes of an operation on the main actor, in order, where it may be shown:
    /// `client.watch(operation, deliverOn: MainActor.shared) { event in … }`; see `watch(_:_:)`.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - owner: the scope that owns it, if any.
    ///   - actor: the main actor. Cancelling the token on it leaves nothing to be heard.
    ///   - receive: hears what comes.
    /// - Returns: the handle that ends it; nil where the message could not be built, or the scope is closed, which `receive`
    ///   is told.
    @discardableResult
    public func watch(
        _ operation: NetworkOperation,
        in owner: OperationScope? = nil,
        deliverOn actor: MainActor,
        _ receive: @escaping @MainActor @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)? {
        let (events, continuation) = AsyncStream.makeStream(of: NetworkOperation.Event.self)
        let hearing = Task { @MainActor in
            for await event in events where !Task.isCancelled { receive(event) }
        }
        let token = watch(operation, in: owner) { event in
            continuation.yield(event)
            if case .end = event { continuation.finish() }
        }
        guard let token else {
            continuation.finish()
            return nil
        }
        return DeliveryToken {
            hearing.cancel()
            token.cancel()
        }
    }
}

private struct DeliveryToken: RequestToken {
    let end: @Sendable () -> Void

    func cancel() {
        end()
    }
}
