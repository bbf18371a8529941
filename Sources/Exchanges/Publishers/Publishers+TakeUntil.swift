import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

extension Publisher {
    /// Publishes the values of this publisher until another publisher sends its first value.
    ///
    /// Then both are cancelled, and the stream finishes.
    ///
    /// If the other publisher finishes without a value, nothing happens. The publishers may use any threads.
    /// (`prefix(untilOutputFrom:)` of OpenCombine never cancels the other publisher.)
    ///
    /// - Parameter terminator: The publisher whose first value ends the stream. It is subscribed to first.
    public func takeUntil<Terminator: Publisher>(_ terminator: Terminator) -> Publishers.TakeUntil<Self, Terminator> {
        Publishers.TakeUntil(upstream: self, terminator: terminator)
    }
}

extension Publishers {
    /// A publisher of another publisher's values until a terminator sends its first value.
    public struct TakeUntil<Upstream: Publisher, Terminator: Publisher>: Publisher {
        /// The values of the upstream publisher.
        public typealias Output = Upstream.Output
        /// The failure of the upstream publisher.
        public typealias Failure = Upstream.Failure

        let upstream: Upstream
        let terminator: Terminator

        /// Attaches a subscriber.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            let subscription = TakeUntilSubscription(to: subscriber)
            subscriber.receive(subscription: subscription)
            terminator.subscribe(subscription.terminator(of: Terminator.self))
            guard !subscription.isFinished else { return }
            upstream.subscribe(subscription.upstream)
        }

        private final class TakeUntilSubscription<Downstream: Subscriber>: Subscription
        where Downstream.Input == Output, Downstream.Failure == Failure {
            private let subscriptions = TakeUntilSubscriptions()
            private let buffer: DemandBuffer<Downstream>

            init(to downstream: Downstream) {
                buffer = DemandBuffer(to: downstream) { [subscriptions] in subscriptions.request($0) }
            }

            var isFinished: Bool { subscriptions.isFinished }

            func request(_ demand: Subscribers.Demand) {
                buffer.request(demand)
                subscriptions.request(demand)
            }

            func cancel() {
                buffer.cancel()
                subscriptions.cancel()
            }

            var upstream: AnySubscriber<Output, Failure> {
                AnySubscriber(
                    receiveSubscription: { [subscriptions] in subscriptions.store(upstream: SendableSubscription($0)) },
                    receiveValue: { [buffer] value in
                        buffer.send(value)
                        return .none
                    },
                    receiveCompletion: { [subscriptions, buffer] completion in
                        subscriptions.cancel()
                        buffer.finish(completion)
                    }
                )
            }

            func terminator<T: Publisher>(of: T.Type) -> AnySubscriber<T.Output, T.Failure> {
                AnySubscriber(
                    receiveSubscription: { [subscriptions] in subscriptions.store(terminator: SendableSubscription($0))
                    },
                    receiveValue: { [subscriptions, buffer] _ in
                        subscriptions.cancel()
                        buffer.finish(.finished, dropsBuffered: true)
                        return .none
                    },
                    receiveCompletion: { [subscriptions] _ in subscriptions.terminatorEnded() }
                )
            }
        }
    }
}

/// The two subscriptions of a `Publishers.TakeUntil`.
private final class TakeUntilSubscriptions: Sendable {
    private struct State: Sendable {
        var upstream: SendableSubscription?
        var terminator: SendableSubscription?
        /// The demand before the upstream subscription arrives.
        var wanted = Subscribers.Demand.none
        var isFinished = false
    }

    private let state = Lock(State())

    var isFinished: Bool { state.withLock { $0.isFinished } }

    func request(_ demand: Subscribers.Demand) {
        let subscription = state.withLock { state in
            if state.upstream == nil { state.wanted += demand }
            return state.upstream
        }
        subscription?.request(demand)
    }

    func store(upstream: SendableSubscription) {
        let wanted: Subscribers.Demand? = state.withLock { state in
            if state.isFinished || state.upstream != nil { return nil }
            state.upstream = upstream
            return state.wanted
        }
        guard let wanted else { return upstream.cancel() }
        if wanted > .none { upstream.request(wanted) }
    }

    func store(terminator: SendableSubscription) {
        let isWanted = state.withLock { state in
            if state.isFinished { return false }
            state.terminator = terminator
            return true
        }
        if isWanted { terminator.request(.max(1)) } else { terminator.cancel() }
    }

    func terminatorEnded() {
        let subscription = state.withLock { $0.terminator.take() }
        withExtendedLifetime(subscription) {}
    }

    func cancel() {
        let (one, other) = state.withLock { state in
            let subscriptions = (state.upstream, state.terminator)
            state = State(isFinished: true)
            return subscriptions
        }
        one?.cancel()
        other?.cancel()
    }
}
