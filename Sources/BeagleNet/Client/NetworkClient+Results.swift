import BeagleNetHTTP

extension NetworkClient {
    /// Returns the results of an operation up to the settled one: progress, a stored response, the network's response.
    ///
    /// The operation is cancelled when iteration stops. Up to `limit` unread results are buffered; after that, each new
    /// result evicts the oldest. Memory is therefore bounded, and a slow reader still receives the newest results.
    ///
    /// - Parameters:
    ///   - operation: The operation to perform.
    ///   - limit: The maximum number of buffered results, above 0; 64 by default.
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
