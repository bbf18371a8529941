import BeagleNetHTTP

extension NetworkClient {
    /// What comes of an operation, up to its settled result: progress, a stored answer, the network's. Whoever stops
    /// reading cancels it.
    ///
    /// Results that nobody reads are kept, up to `limit` of them; then the oldest make room, so that a slow reader bounds
    /// memory and still sees the newest.
    ///
    /// - Parameters:
    ///   - operation: what to ask.
    ///   - limit: the most results to keep, above 0; 64 by default.
    public func results(
        of operation: NetworkOperation,
        keeping limit: Int = 64
    ) -> some AsyncSequence<NetworkOperation.Result, any Swift.Error> & Sendable {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(max(1, limit))) { continuation in
            let task = Task {
                do {
                    continuation.yield(try await run(operation) { continuation.yield($0) })
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
