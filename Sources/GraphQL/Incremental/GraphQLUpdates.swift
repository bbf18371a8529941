public import BeagleNet
import BeagleNetHTTP

/// A sequence of updates of an incremental result, each with the whole result so far.
///
/// See `NetworkClient.results(of:)`.
///
/// Each iteration sends the operation again, when the first element is requested. Cancelling the task or releasing the
/// iterator cancels the transfer.
public struct GraphQLUpdates<Output>: AsyncSequence, Sendable {
    /// The current state of the result.
    public typealias Element = GraphQLUpdate<Output>

    let source: IncrementalSource
    /// Whether parts that have already arrived are merged into one element.
    let coalesces: Bool
    /// Converts the result to a response.
    let make: @Sendable (IncrementalSource.Update) throws(NetworkError) -> GraphQLResponse<Output>

    /// Creates an iterator, which sends the operation when its first element is requested.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(updates: self)
    }

    /// An iterator over the updates.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let updates: GraphQLUpdates
        private var reader: IncrementalSource.ResponseReader?
        private var isFinished = false

        fileprivate init(updates: GraphQLUpdates) {
            self.updates = updates
        }

        /// Returns the result after the next part has arrived, or `nil` when there are no more parts.
        ///
        /// - Throws: `NetworkError` if the stream fails, or if the result can't be decoded. Later calls return `nil`.
        ///   Earlier elements remain valid.
        public mutating func next() async throws(NetworkError) -> GraphQLUpdate<Output>? {
            do throws(NetworkError) {
                if isFinished {
                    let reader = reader
                    self.reader = nil
                    await reader?.drain()
                    return nil
                }
                let reader = if let reader { reader } else { try await updates.source.send() }
                self.reader = reader
                guard let update = try await reader.next(coalesces: updates.coalesces) else {
                    isFinished = true
                    self.reader = nil
                    return nil
                }
                isFinished = update.isLast
                return GraphQLUpdate(
                    response: try updates.make(update),
                    hasNext: update.hasNext,
                    patches: update.patches
                )
            } catch {
                isFinished = true
                reader = nil
                throw error
            }
        }
    }
}
