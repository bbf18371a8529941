public import BeagleNet
import BeagleNetHTTP

/// The results of a subscription, over as many connections as it takes. See `NetworkClient.subscribe(to:)`.
///
/// ```swift
/// for try await result in try client.subscribe(to: .newPosts(in: "news")) { show(result.data) }
/// ```
/// It ends when the server says that nothing more comes. Each iteration subscribes anew, when its first element is asked
/// for; a cancelled task, or an iterator that is let go, ends the subscription, and the server is told.
///
/// A connection that is lost is followed by another, as `RetryInterceptor.subscriptionBackoff` says. What the server had to
/// tell meanwhile is lost, unless it goes on where it was (events with ids, of `.distinct` streams); `events` tells of each gap.
public struct GraphQLSubscription<Output>: AsyncSequence, Sendable {
    /// What the server tells. One with errors may have no data.
    public typealias Element = GraphQLResponse<Output>

    /// What happens to a subscription.
    public enum Event {
        /// The server was asked over a connection that works.
        case open
        /// The connection was lost; the server is asked again after this wait.
        case interrupted(NetworkError, wait: Duration)
        /// So many results were dropped here, as they were not read in time.
        case missed(Int)
        /// A result. Behind a reference: who waits for an event keeps room for one.
        indirect case response(GraphQLResponse<Output>)
    }

    let client: any NetworkClient
    let operation: NetworkOperation
    let buffering: GraphQLBuffering
    /// Makes what is given of an answer.
    let read: @Sendable (NetworkResponse) throws(NetworkError) -> GraphQLResponse<Output>

    /// The operation for another iteration.
    fileprivate var renewedOperation: NetworkOperation {
        // The first takes the operation as it is: a copy for each of many subscriptions would cost room.
        guard let performer = operation.performer as? SubscriptionPerformer, !performer.begin() else {
            return operation
        }
        var operation = operation
        operation.performer = performer.renewed()
        return operation
    }

    /// The same with what happens to the connection, in order.
    public var events: Events { Events(subscription: self) }

    /// Begins when its first element is asked for.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(events: events.makeAsyncIterator())
    }

    /// Gives the results one after another.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var events: Events.AsyncIterator

        /// The next result; nil when nothing more comes.
        ///
        /// - Throws: `NetworkError`: why there are no more. After it comes nil.
        public mutating func next() async throws(NetworkError) -> GraphQLResponse<Output>? {
            while let event = try await events.next() {
                if case .response(let response) = event { return response }
            }
            return nil
        }
    }

    /// What happens to a subscription, one after another.
    public struct Events: AsyncSequence, Sendable {
        /// What happens.
        public typealias Element = Event

        fileprivate let subscription: GraphQLSubscription

        /// Begins when its first element is asked for.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(subscription: subscription)
        }

        /// Gives the events one after another.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let subscription: GraphQLSubscription
            private var run: SubscriptionRun?
            private var isOver = false

            fileprivate init(subscription: GraphQLSubscription) {
                self.subscription = subscription
            }

            /// The next event; nil when nothing more comes.
            ///
            /// - Throws: `NetworkError`: why there are no more. After it comes nil.
            public mutating func next() async throws(NetworkError) -> Event? {
                if isOver { return nil }
                let run =
                    run ?? SubscriptionRun(subscription.client, subscription.renewedOperation, subscription.buffering)
                self.run = run
                do throws(NetworkError) {
                    while let step = try await run.next() {
                        if let event = try event(of: step) { return event }
                    }
                } catch {
                    end()
                    throw error
                }
                end()
                return nil
            }

            private mutating func end() {
                isOver = true
                run = nil
            }

            private func event(of step: SubscriptionRun.Step) throws(NetworkError) -> Event? {
                switch step {
                case .missed(let count): return .missed(count)
                case .result(let result):
                    switch result.content {
                    case .response(let response): return .response(try subscription.read(response))
                    case .connection(.open): return .open
                    case .connection(.interrupted(let error, let wait)): return .interrupted(error, wait: wait)
                    case .connection(.ended), .progress, .stream: return nil
                    }
                }
            }
        }
    }
}

extension GraphQLSubscription.Event: Sendable where Output: Sendable {}
