import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// One of a ladder's streams: what it is given, in turns, to all who listen, in the order in which they began to.
///
/// It listens above while anybody listens to it. Whoever wants nothing when a value comes does not get it.
///
/// It is no publisher itself, but has one: all that it does is reached from where it was made, where `Value` is known, and
/// so costs no look-ups of types.
///
/// `@unchecked Sendable` is sound because `state` is behind its lock, and `lane` never changes, nor does `upstream`, which
/// is subscribed to by whoever makes `isConnected` true: one at a time. Listeners are given values in turns of the lane; a
/// rung without one is sent to from one thread at a time.
final class Rung<Value: Sendable>: @unchecked Sendable {
    /// One who listens. `@unchecked Sendable` is sound because `state` is behind its lock, `rung` never changes, and
    /// `subscriber`, which does not either, is called where the rung gives values: by one thread at a time.
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
    ///   - upstream: what it is given beside what is sent.
    ///   - lane: where it takes its turns; nil where who sends to it does so one after another.
    init(_ upstream: AnyPublisher<Value, Never>? = nil, in lane: Lane?) {
        self.upstream = upstream
        self.lane = lane
    }

    /// What listens to it.
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

    /// Gives a value to all, in a turn.
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

    /// There is nothing more to come.
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
