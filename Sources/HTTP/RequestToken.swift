/// A handle on one running request.
public protocol RequestToken: Sendable {
    /// Ends the request as soon as possible; its completion is called once, with `NetworkError.Kind.cancelled`,
    /// unless it has already been called. May be called from any thread, at any time, any number of times.
    func cancel()
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
