/// A handle on one running request.
public protocol RequestToken: Sendable {
    /// Ends the request as soon as possible; its completion is called once, with `NetworkError.Kind.cancelled`,
    /// unless it has already been called. May be called from any thread, at any time, any number of times.
    func cancel()
}

/// A handle that does what it is given, for clients and transports of the app's own.
public struct AnyRequestToken: RequestToken {
    private let end: @Sendable () -> Void

    /// A handle.
    ///
    /// - Parameter cancel: called with each `cancel()`; by default it does nothing, as for a request that has ended.
    public init(_ cancel: @escaping @Sendable () -> Void = {}) {
        end = cancel
    }

    /// A handle that cancels a task.
    public init(_ task: Task<Void, Never>) {
        end = { task.cancel() }
    }

    /// Does what it was given.
    public func cancel() {
        end()
    }
}

/// A handle on a running request whose priority can be raised, as that of a `CurlTransport`.
public protocol PrioritizedToken: RequestToken {
    /// Lets the request go before others from now on; a lower priority than it has does nothing. May be called from any
    /// thread, at any time.
    ///
    /// One that waits moves up. One that is under way keeps its connection and cannot be made faster than its network
    /// (RFC 9113 dropped the priorities of HTTP/2): it is only freed from what holds a lower priority back, and its
    /// redirects wait with the new one.
    func raise(to priority: Priority)
}
