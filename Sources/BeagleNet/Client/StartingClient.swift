package import BeagleNetHTTP

/// A client that performs operations also for who has no task to wait in.
package protocol StartingClient: NetworkClient {
    /// Begins an operation.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - emit: hears what comes before the last result, on any thread, also from inside this call.
    ///   - completion: gets the last result, or why there is none; not where the token was cancelled before.
    /// - Returns: the handle that ends it; nil where only a task can wait for it.
    func start(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void,
        completion: @escaping @Sendable (Result<NetworkOperation.Result, NetworkError>) -> Void
    ) -> (any RequestToken)?
}

extension NetworkClientDefault: StartingClient {}
