import BeagleNetDependencies
public import BeagleNetHTTP
public import Dispatch

// MARK: - Watching

extension NetworkClient {
    /// Watches an operation: gives all results, from the first one on until the token is cancelled or a scope is closed.
    /// Each time it is run again (`refetch`), the last result is given once more, as stale, and then the new one. An
    /// operation of a kind that is not shared, and a subscription, ends by itself.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - owner: a scope that owns it, beside the container's `operationScope`: when one is closed, `receive` is given the
    ///     error that it was cancelled, and `.end`. `nil` by default.
    ///   - receive: called on any thread, never twice at once, also from inside this call with results that need no
    ///     waiting. After the token was cancelled it is not called again, except for a result that another thread is
    ///     giving at that moment.
    /// - Returns: the handle that ends it; `nil` if the message can't be built, the scope is closed, or the client watches
    ///   nothing, after `receive` was given the error.
    @discardableResult
    public func watch(
        _ operation: NetworkOperation,
        in owner: OperationScope? = nil,
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)? {
        watch(operation, ownedBy: owner.map { [$0] } ?? [], receive)
    }

    /// Watches an operation and delivers its events on a queue, in order; see `watch(_:in:_:)`.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - owner: the scope that owns it, if any.
    ///   - queue: a serial one. Cancelling the token on it leaves nothing to be heard.
    ///   - receive: receives each event.
    /// - Returns: The handle that ends it; `nil` if the message can't be built or the scope is closed, after `receive` was
    ///   given the error.
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
            AnyRequestToken {
                isCancelled.withLock { $0 = true }
                token.cancel()
            }
        }
    }

    /// Watches an operation and delivers its events on the main actor, in order:
    /// `client.watch(operation, deliverOn: MainActor.shared) { event in … }`; see `watch(_:in:_:)`.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - owner: the scope that owns it, if any.
    ///   - actor: the main actor. Cancelling the token on it leaves nothing to be heard.
    ///   - receive: receives each event.
    /// - Returns: The handle that ends it; `nil` if the message can't be built or the scope is closed, after `receive` was
    ///   given the error.
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
        return AnyRequestToken {
            hearing.cancel()
            token.cancel()
        }
    }
}

// MARK: - Running again

extension NetworkClient {
    /// Runs again what is watched: on coming to the foreground, when the network is back, after a change. Wrappers pass it
    /// to the `NetworkClientDefault` that they wrap; any other client watches nothing, which the log says.
    ///
    /// An operation that is running is not run a second time beside itself. Each is sent as it was made when it was asked
    /// last: after another person has signed in, call `endAll()` and watch anew.
    ///
    /// - Parameters:
    ///   - policy: whether stored answers will do; the network is asked by default, but not for operations watched with
    ///     `.cacheOnly`.
    ///   - afterRun: whether the result of a run under way would be too old, so that one more run follows it.
    ///   - isMeant: chooses the operations; all by default.
    public func refetch(
        _ policy: RequestPolicy = .networkOnly,
        afterRun: Bool = false,
        where isMeant: (NetworkOperation) -> Bool = { _ in true }
    ) {
        watching("refetch")?.refetch(policy, afterRun: afterRun, where: isMeant)
    }

    /// Runs again what is watched whenever an event comes, as that the app is in the foreground or the network is back; see
    /// `NetworkClientDefault.refetch(on:_:gathering:)`.
    ///
    /// - Parameters:
    ///   - events: yields one after another; read here alone.
    ///   - policy: whether stored answers will do; by default they are given as stale, and the network is asked.
    ///   - interval: how long events are gathered before the run, by the container's clock; 250 ms by default.
    /// - Returns: the handle that ends it.
    @discardableResult
    public func refetch(
        on events: AsyncStream<Void>,
        _ policy: RequestPolicy = .cacheAndNetwork,
        gathering interval: Duration = .milliseconds(250)
    ) -> any RequestToken {
        watching("refetch")?.refetch(on: events, policy, gathering: interval) ?? AnyRequestToken()
    }

    /// Cancels everything that is shared and under way, and ends what is watched, as after a person has signed in or out.
    /// Wrappers pass it to the `NetworkClientDefault` that they wrap; any other client shares nothing, which the log says.
    public func endAll() {
        watching("endAll")?.endAll()
    }

    /// The client inside all wrappers that watches and shares operations; `nil` if no client does.
    package var innermost: NetworkClientDefault? {
        if let wrapper = self as? any NetworkClientWrapper { return wrapper.wrapped.innermost }
        return self as? NetworkClientDefault
    }

    /// The client that watches operations, without which the log says what had no effect.
    private func watching(_ call: String) -> NetworkClientDefault? {
        let client = innermost
        if client == nil { container.logger.log(NothingWatchedMessage(call: call, client: "\(type(of: self))")) }
        return client
    }
}

/// The log message of a call that had no effect.
private struct NothingWatchedMessage: LogType {
    let call: String
    let client: String

    var category: String { "Network" }
    var level: LogLevel { .warning }
    var message: String {
        "\(call) had no effect: \(client) does not watch operations; adopt NetworkClientWrapper if it wraps a client"
    }
}
