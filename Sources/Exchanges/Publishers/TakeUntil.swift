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
    public func takeUntil<Terminator: Publisher>(_ terminator: Terminator) -> TakeUntil<Self, Terminator> {
        TakeUntil(upstream: self, terminator: terminator)
    }
}

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
        let until = Until(to: subscriber)
        subscriber.receive(subscription: until)
        terminator.subscribe(until.terminator(of: Terminator.self))
        guard !until.isOver else { return }
        upstream.subscribe(until.upstream)
    }

    private final class Until<Downstream: Subscriber>: Subscription
    where Downstream.Input == Output, Downstream.Failure == Failure {
        private let lines = Lines()
        private let delivery: Delivery<Downstream>

        init(to downstream: Downstream) {
            delivery = Delivery(to: downstream) { [lines] in lines.request($0) }
        }

        var isOver: Bool { lines.isOver }

        func request(_ demand: Subscribers.Demand) {
            delivery.request(demand)
            lines.request(demand)
        }

        func cancel() {
            delivery.cancel()
            lines.cancel()
        }

        var upstream: AnySubscriber<Output, Failure> {
            AnySubscriber(
                receiveSubscription: { [lines] in lines.hold(upstream: Line($0)) },
                receiveValue: { [delivery] value in
                    delivery.send(value)
                    return .none
                },
                receiveCompletion: { [lines, delivery] completion in
                    lines.cancel()
                    delivery.finish(completion)
                }
            )
        }

        func terminator<T: Publisher>(of: T.Type) -> AnySubscriber<T.Output, T.Failure> {
            AnySubscriber(
                receiveSubscription: { [lines] in lines.hold(terminator: Line($0)) },
                receiveValue: { [lines, delivery] _ in
                    lines.cancel()
                    delivery.finish(.finished, isAtOnce: true)
                    return .none
                },
                receiveCompletion: { [lines] _ in lines.terminatorEnded() }
            )
        }
    }
}

/// The two subscriptions of a `TakeUntil`.
private final class Lines: Sendable {
    private struct State: Sendable {
        var upstream: Line?
        var terminator: Line?
        /// The demand before the upstream subscription arrives.
        var wanted = Subscribers.Demand.none
        var isOver = false
    }

    private let state = Lock(State())

    var isOver: Bool { state.withLock { $0.isOver } }

    func request(_ demand: Subscribers.Demand) {
        let line = state.withLock { state in
            if state.upstream == nil { state.wanted += demand }
            return state.upstream
        }
        line?.request(demand)
    }

    func hold(upstream: Line) {
        let wanted: Subscribers.Demand? = state.withLock { state in
            if state.isOver || state.upstream != nil { return nil }
            state.upstream = upstream
            return state.wanted
        }
        guard let wanted else { return upstream.cancel() }
        if wanted > .none { upstream.request(wanted) }
    }

    func hold(terminator: Line) {
        let isWanted = state.withLock { state in
            if state.isOver { return false }
            state.terminator = terminator
            return true
        }
        if isWanted { terminator.request(.max(1)) } else { terminator.cancel() }
    }

    func terminatorEnded() {
        let line = state.withLock { $0.terminator.take() }
        withExtendedLifetime(line) {}
    }

    func cancel() {
        let (one, other) = state.withLock { state in
            let lines = (state.upstream, state.terminator)
            state = State(isOver: true)
            return lines
        }
        one?.cancel()
        other?.cancel()
    }
}
