public import BeagleNet
import BeagleNetHTTP

/// The results of a subscription, over as many connections as needed.
///
/// See `NetworkClient.subscribe(to:)`.
///
/// ```swift
/// for try await result in try client.subscribe(to: .newPosts(in: "news")) { show(result.data) }
/// ```
/// The sequence ends when the server completes the subscription. Each iteration subscribes again, when its first
/// element is requested. Cancelling the task or releasing the iterator unsubscribes from the server.
///
/// A lost connection is replaced as `RetryInterceptor.subscriptionBackoff` specifies. Results sent by the server in the
/// meantime are lost, unless it can resume (events with IDs, over `.distinct` streams); `events` reports each gap.
public struct GraphQLSubscription<Output>: AsyncSequence, Sendable {
    /// A result of the subscription.
    ///
    /// A result with errors may have no data.
    public typealias Element = GraphQLResponse<Output>

    /// An event of a subscription.
    public enum Event {
        /// The subscription was sent over a working connection.
        case open
        /// The connection was lost, and the client subscribes again after this delay.
        case interrupted(NetworkError, wait: Duration)
        /// A number of results were dropped because they weren't read in time.
        case dropped(Int)
        /// A result. It is indirect so that a suspended reader reserves less memory.
        indirect case response(GraphQLResponse<Output>)
    }

    let client: any NetworkClient
    let operation: NetworkOperation
    let buffering: GraphQLBuffering
    /// Converts a response to a result.
    let read: @Sendable (NetworkResponse) throws(NetworkError) -> GraphQLResponse<Output>

    /// The operation for another iteration.
    fileprivate var renewedOperation: NetworkOperation {
        // The first iteration uses the operation itself, because copies would cost memory with many subscriptions.
        guard let performer = operation.performer as? SubscriptionPerformer, !performer.start() else {
            return operation
        }
        var operation = operation
        operation.performer = performer.renewed()
        return operation
    }

    /// The results and the connection events of the subscription, in order.
    public var events: Events { Events(subscription: self) }

    /// Creates an iterator, which subscribes when its first element is requested.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(events: events.makeAsyncIterator())
    }

    /// An iterator over the results.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var events: Events.AsyncIterator

        /// Returns the next result, or `nil` when the subscription has ended.
        ///
        /// - Throws: `NetworkError` that ended the subscription. Later calls return `nil`.
        public mutating func next() async throws(NetworkError) -> GraphQLResponse<Output>? {
            while let event = try await events.next() {
                if case .response(let response) = event { return response }
            }
            return nil
        }
    }

    /// A sequence of the events of a subscription.
    public struct Events: AsyncSequence, Sendable {
        /// An event of the subscription.
        public typealias Element = Event

        fileprivate let subscription: GraphQLSubscription

        /// Creates an iterator, which subscribes when its first element is requested.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(subscription: subscription)
        }

        /// An iterator over the events.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let subscription: GraphQLSubscription
            private var run: SubscriptionRun?
            private var isFinished = false

            fileprivate init(subscription: GraphQLSubscription) {
                self.subscription = subscription
            }

            /// Returns the next event, or `nil` when the subscription has ended.
            ///
            /// - Throws: `NetworkError` that ended the subscription. Later calls return `nil`.
            public mutating func next() async throws(NetworkError) -> Event? {
                if isFinished { return nil }
                let run =
                    run ?? SubscriptionRun(subscription.client, subscription.renewedOperation, subscription.buffering)
                self.run = run
                do throws(NetworkError) {
                    while let element = try await run.next() {
                        if let event = try event(of: element) { return event }
                    }
                } catch {
                    end()
                    throw error
                }
                end()
                return nil
            }

            private mutating func end() {
                isFinished = true
                run = nil
            }

            private func event(of element: SubscriptionRun.Element) throws(NetworkError) -> Event? {
                switch element {
                case .dropped(let count): return .dropped(count)
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
