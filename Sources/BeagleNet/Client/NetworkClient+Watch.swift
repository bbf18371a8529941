import BeagleNetDependencies
public import BeagleNetHTTP
public import Dispatch

// MARK: - Watching

extension NetworkClient {
    /// Watches an operation and delivers all results until the token is cancelled or a scope is closed.
    ///
    /// Each time the operation runs again (`refetch`), the last result is delivered once more, as stale, and then the
    /// new one. An operation of a kind that isn't shared, and a subscription, ends by itself.
    ///
    /// - Parameters:
    ///   - operation: The operation to watch.
    ///   - owner: A scope that owns it, in addition to the container's `operationScope`. When a scope is closed,
    ///     `receive` is given a cancellation error and `.end`. `nil` by default.
    ///   - receive: Called on any thread, never concurrently, possibly before this call returns if a result needs no
    ///     waiting. After the token is cancelled it isn't called again, except for a result that another thread is
    ///     delivering at that moment.
    /// - Returns: A token that stops watching, or `nil` if the request can't be built, the scope is closed, or the
    ///   client can't watch operations, after `receive` was given the error.
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
    ///   - operation: The operation to watch.
    ///   - owner: The scope that owns it, if any.
    ///   - queue: A serial queue. If the token is cancelled on it, no more events are delivered.
    ///   - receive: Receives each event.
    /// - Returns: A token that stops watching, or `nil` if the request can't be built or the scope is closed, after
    ///   `receive` was given the error.
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

    /// Watches an operation and delivers its events on the main actor, in order; see `watch(_:in:_:)`.
    ///
    /// ```swift
    /// client.watch(operation, deliverOn: MainActor.shared) { event in … }
    /// ```
    ///
    /// - Parameters:
    ///   - operation: The operation to watch.
    ///   - owner: The scope that owns it, if any.
    ///   - actor: The main actor. If the token is cancelled on it, no more events are delivered.
    ///   - receive: Receives each event.
    /// - Returns: A token that stops watching, or `nil` if the request can't be built or the scope is closed, after
    ///   `receive` was given the error.
    @discardableResult
    public func watch(
        _ operation: NetworkOperation,
        in owner: OperationScope? = nil,
        deliverOn actor: MainActor,
        _ receive: @escaping @MainActor @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)? {
        let (events, continuation) = AsyncStream.makeStream(of: NetworkOperation.Event.self)
        let delivery = Task { @MainActor in
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
            delivery.cancel()
            token.cancel()
        }
    }
}

// MARK: - Running again

extension NetworkClient {
    /// Runs watched operations again, for example when the app enters the foreground, when the network is back, or
    /// after a change.
    ///
    /// Wrappers forward the call to the `NetworkClientDefault` that they wrap. Any other client can't watch operations
    /// and logs a warning.
    ///
    /// An operation that is already running isn't started a second time. Each operation is sent as it was last built:
    /// after another user has signed in, call `endAll()` and watch again.
    ///
    /// - Parameters:
    ///   - policy: The request policy. By default the network is asked, except for operations watched with
    ///     `.cacheOnly`.
    ///   - afterRun: Whether the result of a run in flight would be outdated, so that one more run follows it.
    ///   - isIncluded: Selects the operations; all by default.
    public func refetch(
        _ policy: RequestPolicy = .networkOnly,
        afterRun: Bool = false,
        where isIncluded: (NetworkOperation) -> Bool = { _ in true }
    ) {
        watching("refetch")?.refetch(policy, afterRun: afterRun, where: isIncluded)
    }

    /// Runs watched operations again whenever an event arrives, for example when the app enters the foreground or the
    /// network is back.
    ///
    /// See `NetworkClientDefault.refetch(on:_:gathering:)`.
    ///
    /// - Parameters:
    ///   - events: The events. No other task may read the stream.
    ///   - policy: The request policy. By default stored responses are delivered as stale, and the network is asked.
    ///   - interval: The time in which events are gathered before the run, by the container's clock; 250 ms by default.
    /// - Returns: A token that stops listening.
    @discardableResult
    public func refetch(
        on events: AsyncStream<Void>,
        _ policy: RequestPolicy = .cacheAndNetwork,
        gathering interval: Duration = .milliseconds(250)
    ) -> any RequestToken {
        watching("refetch")?.refetch(on: events, policy, gathering: interval) ?? AnyRequestToken()
    }

    /// Cancels shared operations in flight and ends all watching, for example after a user has signed in or out.
    ///
    /// Wrappers forward the call to the `NetworkClientDefault` that they wrap. Any other client doesn't share
    /// operations and logs a warning.
    public func endAll() {
        watching("endAll")?.endAll()
    }

    /// The client inside all wrappers that watches and shares operations, or `nil` if no client does.
    package var innermost: NetworkClientDefault? {
        if let wrapper = self as? any NetworkClientWrapper { return wrapper.wrapped.innermost }
        return self as? NetworkClientDefault
    }

    /// Returns the client that watches operations, or logs that the call had no effect.
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
