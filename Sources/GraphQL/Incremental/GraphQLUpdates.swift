public import BeagleNet
import BeagleNetHTTP

/// What comes of an operation piece by piece: each time the whole answer so far. See `NetworkClient.results(of:)`.
///
/// Each iteration sends the operation anew, when its first element is asked for. A cancelled task, or an iterator that is
/// let go, ends the transfer.
public struct GraphQLUpdates<Output>: AsyncSequence, Sendable {
    /// What there is so far.
    public typealias Element = GraphQLUpdate<Output>

    let source: IncrementalSource
    /// Whether pieces that are there already are put together before they are given.
    let isGathering: Bool
    /// Makes what is given of an answer that came whole, or of what there is so far.
    let make: @Sendable (IncrementalSource.Answer) throws(NetworkError) -> GraphQLResponse<Output>

    /// Begins to ask when its first element is asked for.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(updates: self)
    }

    /// Gives what there is, each time something comes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let updates: GraphQLUpdates
        private var answering: IncrementalSource.Answering?
        private var isOver = false

        fileprivate init(updates: GraphQLUpdates) {
            self.updates = updates
        }

        /// What there is so far, when something has come; nil when nothing more comes.
        ///
        /// - Throws: `NetworkError`: why there is no more, or why what there is cannot be read. After it comes nil. What was
        ///   given before stays true.
        public mutating func next() async throws(NetworkError) -> GraphQLUpdate<Output>? {
            do throws(NetworkError) {
                if isOver {
                    let answering = answering
                    self.answering = nil
                    await answering?.drain()
                    return nil
                }
                let answering = if let answering { answering } else { try await updates.source.ask() }
                self.answering = answering
                guard let answer = try await answering.next(isGathering: updates.isGathering) else {
                    isOver = true
                    self.answering = nil
                    return nil
                }
                isOver = answer.isLast
                return GraphQLUpdate(
                    response: try updates.make(answer),
                    hasNext: answer.hasNext,
                    patches: answer.patches
                )
            } catch {
                isOver = true
                answering = nil
                throw error
            }
        }
    }
}
