import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// A shared stream between two exchanges, which delivers its values to all subscribers in the order in which they
/// subscribed.
///
/// It is connected to its upstream while it has subscribers. A subscriber without demand misses the value.
///
/// It isn't a publisher itself but has one. Its code is thus compiled where `Value` is known, which avoids looking up
/// type metadata at run time.
///
/// `@unchecked Sendable` is sound because `state` is protected by its lock, and `lane` and `upstream` never change.
/// Only the caller that sets `isConnected` subscribes to `upstream`. Subscribers receive values on the serial queue. A
/// rung without a queue is used by one thread at a time.
final class Rung<Value: Sendable>: @unchecked Sendable {
    /// A subscription. `@unchecked Sendable` is sound because `state` is protected by its lock, `rung` and `subscriber`
    /// never change, and `subscriber` is called only by the rung, from one thread at a time.
    private final class Listener: Subscription, @unchecked Sendable {
        private struct State: Sendable {
            var demand = Subscribers.Demand.none
            var isOver = false
        }

        private let state = InlineLock(State())
        private let subscriber: AnySubscriber<Value, Never>
        private let rung: Rung

        init(_ subscriber: AnySubscriber<Value, Never>, to rung: Rung) {
            self.subscriber = subscriber
            self.rung = rung
        }

        func request(_ demand: Subscribers.Demand) {
            state.withLock { $0.demand += demand }
        }

        func cancel() {
            let isNew = state.withLock { state in
                defer { state.isOver = true }
                return !state.isOver
            }
            if isNew { rung.remove(self) }
        }

        func receive(_ value: Value) {
            let isWanted = state.withLock { state in
                if state.isOver || state.demand == .none { return false }
                state.demand -= 1
                return true
            }
            guard isWanted else { return }
            let more = subscriber.receive(value)
            if more > .none { state.withLock { $0.demand += more } }
        }

        func finish() {
            let isNew = state.withLock { state in
                defer { state.isOver = true }
                return !state.isOver
            }
            if isNew { subscriber.receive(completion: .finished) }
        }
    }

    private struct State: Sendable {
        var listeners: [Listener] = []
        var isConnected = false
        var isOver = false
        var line: Line?
    }

    private let lane: Lane?
    private let upstream: AnyPublisher<Value, Never>?
    private let state = InlineLock(State())

    /// - Parameters:
    ///   - upstream: A publisher of values in addition to those that are sent.
    ///   - lane: The serial queue on which values are delivered, or `nil` if calls of `send` don't overlap.
    init(_ upstream: AnyPublisher<Value, Never>? = nil, in lane: Lane?) {
        self.upstream = upstream
        self.lane = lane
    }

    /// The publisher of the values.
    var publisher: AnyPublisher<Value, Never> {
        AnyPublisher(Stream { [self] subscriber in listen(subscriber) })
    }

    private struct Stream: Publisher {
        typealias Output = Value
        typealias Failure = Never

        let listen: (AnySubscriber<Value, Never>) -> Void

        func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Value, Downstream.Failure == Never {
            listen(AnySubscriber(subscriber))
        }
    }

    /// Delivers a value to all subscribers, on the serial queue if there is one.
    func send(_ value: Value) {
        guard let lane, !lane.isMine else { return give(value) }
        lane.run { self.give(value) }
    }

    private func give(_ value: Value) {
        let listeners = state.withLock { $0.listeners }
        for listener in listeners { listener.receive(value) }
    }

    private func listen(_ subscriber: AnySubscriber<Value, Never>) {
        let listener = Listener(subscriber, to: self)
        let (isOver, isFirst) = state.withLock { state in
            if state.isOver { return (true, false) }
            state.listeners.append(listener)
            let isFirst = !state.isConnected && upstream != nil
            if isFirst { state.isConnected = true }
            return (false, isFirst)
        }
        subscriber.receive(subscription: listener)
        if isOver { return listener.finish() }
        if isFirst { connect() }
    }

    private func connect() {
        upstream?.subscribe(
            AnySubscriber<Value, Never>(
                receiveSubscription: { self.begin(Line($0)) },
                receiveValue: { value in
                    self.send(value)
                    return .none
                },
                receiveCompletion: { _ in self.finish() }
            )
        )
    }

    private func begin(_ line: Line) {
        let isWanted = state.withLock { state in
            guard state.isConnected else { return false }
            state.line = line
            return true
        }
        if isWanted { line.request(.unlimited) } else { line.cancel() }
    }

    /// Completes the stream.
    func finish() {
        guard let lane, !lane.isMine else { return finishAll() }
        lane.run { self.finishAll() }
    }

    private func finishAll() {
        let listeners = state.withLock { state in
            let listeners = state.listeners
            state = State(isOver: true)
            return listeners
        }
        for listener in listeners { listener.finish() }
    }

    private func remove(_ listener: Listener) {
        let line = state.withLock { state -> Line? in
            state.listeners.removeAll { $0 === listener }
            guard state.listeners.isEmpty else { return nil }
            state.isConnected = false
            return state.line.take()
        }
        line?.cancel()
    }
}
