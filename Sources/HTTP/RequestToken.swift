/// A handle on one running request.
public protocol RequestToken: Sendable {
    /// Ends the request as soon as possible; its completion is called once, with `NetworkError.Kind.cancelled`,
    /// unless it has already been called. May be called from any thread, at any time, any number of times.
    func cancel()
}
