/// A handle that cancels a request.
public protocol RequestToken: Sendable {
    /// Cancels the request as soon as possible.
    ///
    /// Its completion is called once with `NetworkError.Kind.cancelled`, unless it has already been called. You can
    /// call this method from any thread, at any time and any number of times.
    func cancel()
}

/// A handle that calls a closure, for clients and transports that the app provides.
public struct AnyRequestToken: RequestToken {
    private let onCancel: @Sendable () -> Void

    /// Creates a handle.
    ///
    /// - Parameter cancel: Called by each `cancel()`. By default it does nothing, as for a request that has ended.
    public init(_ cancel: @escaping @Sendable () -> Void = {}) {
        onCancel = cancel
    }

    /// Creates a handle that cancels a task.
    public init(_ task: Task<Void, Never>) {
        onCancel = { task.cancel() }
    }

    /// Calls the closure, or cancels the task.
    public func cancel() {
        onCancel()
    }
}

/// A handle that can also raise the request's priority, as returned by `NetworkClientDefault` and `CurlTransport`.
public protocol PrioritizedToken: RequestToken {
    /// Raises the priority of the request.
    ///
    /// A lower priority than the current one has no effect. You can call this method from any thread, at any time.
    ///
    /// A pending request moves up in the queue. A request in flight keeps its connection and doesn't become faster than
    /// its network allows (RFC 9113 dropped the priorities of HTTP/2). It is only released from limits on its previous
    /// priority, and its redirects are queued with the new one.
    func raise(to priority: Priority)
}
