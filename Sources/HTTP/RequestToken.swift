/// A handle that cancels a request.
public protocol RequestToken: Sendable {
    /// Cancels the request as soon as possible.
    ///
    /// Its completion is called once with `NetworkError.Kind.cancelled`, unless it has already been called. You can
    /// call this method from any thread, at any time and any number of times.
    func cancel()

    /// Raises the priority of the request, if the client and the transport support priorities, as
    /// `NetworkClientDefault` and `CurlTransport` do. The default implementation does nothing.
    ///
    /// A lower priority than the current one has no effect. You can call this method from any thread, at any time.
    ///
    /// A pending request moves up in the queue. A request in flight keeps its connection and doesn't become faster than
    /// its network allows (RFC 9113 dropped the priorities of HTTP/2). It is only released from limits on its previous
    /// priority, and its redirects are queued with the new one.
    func raise(to priority: Priority)
}

extension RequestToken {
    /// Does nothing.
    public func raise(to priority: Priority) {}
}

/// A handle that calls a closure, for clients and transports that the app provides.
public struct AnyRequestToken: RequestToken {
    private let priorityControl: Priority.Control?
    private let onCancel: @Sendable () -> Void

    /// Creates a handle.
    ///
    /// - Parameters:
    ///   - priorityControl: The control that raises the request's priority; `nil`, the default, if there is no such
    ///     control.
    ///   - cancel: Called by each `cancel()`. By default it does nothing, as for a request that has ended.
    public init(priorityControl: Priority.Control? = nil, _ cancel: @escaping @Sendable () -> Void = {}) {
        self.priorityControl = priorityControl
        onCancel = cancel
    }

    /// Creates a handle that cancels a task.
    public init(_ task: Task<Void, Never>) {
        self.init { task.cancel() }
    }

    /// Calls the closure, or cancels the task.
    public func cancel() {
        onCancel()
    }

    /// Raises the priority through the control.
    public func raise(to priority: Priority) {
        priorityControl?.raise(to: priority)
    }
}
