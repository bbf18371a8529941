import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// A shared stream between two exchanges, which delivers its values in the order in which they were sent, to all
/// subscribers in the order in which they subscribed.
///
/// It is connected to its upstream while it has subscribers. A subscriber without demand misses the value.
///
/// It isn't a publisher itself but has one. Its code is thus compiled where `Value` is known, which avoids looking up
/// type metadata at run time.
///
/// `@unchecked Sendable` is sound because `state` is protected by its lock, and `queue` and `upstream` never change.
/// Only the caller that sets `isConnected` subscribes to `upstream`. Subscribers receive values on the serial queue. A
/// stream without a queue is used by one thread at a time.
final class SharedStream<Value: Sendable>: @unchecked Sendable {
    /// A subscription. `@unchecked Sendable` is sound because `state` is protected by its lock, `stream` and
    /// `subscriber` never change, and `subscriber` is called only by the stream, from one thread at a time.
    private final class StreamSubscription: Subscription, @unchecked Sendable {
        private struct State: Sendable {
            var demand = Subscribers.Demand.none
            var isFinished = false
        }

        private let state = InlineLock(State())
        private let subscriber: AnySubscriber<Value, Never>
        private let stream: SharedStream

        init(_ subscriber: AnySubscriber<Value, Never>, to stream: SharedStream) {
            self.subscriber = subscriber
            self.stream = stream
        }

        func request(_ demand: Subscribers.Demand) {
            state.withLock { $0.demand += demand }
        }

        func cancel() {
            let isNew = state.withLock { state in
                defer { state.isFinished = true }
                return !state.isFinished
            }
            if isNew { stream.remove(self) }
        }

        func receive(_ value: Value) {
            let isWanted = state.withLock { state in
                if state.isFinished || state.demand == .none { return false }
                state.demand -= 1
                return true
            }
            guard isWanted else { return }
            let more = subscriber.receive(value)
            if more > .none { state.withLock { $0.demand += more } }
        }

        func finish() {
            let isNew = state.withLock { state in
                defer { state.isFinished = true }
                return !state.isFinished
            }
            if isNew { subscriber.receive(completion: .finished) }
        }
    }

    private struct State: Sendable {
        var subscriptions: [StreamSubscription] = []
        var isConnected = false
        var isFinished = false
        /// The number of values that wait for the queue.
        var waitingCount = 0
        var upstreamSubscription: SendableSubscription?
    }

    private let queue: SerialQueue?
    private let upstream: AnyPublisher<Value, Never>?
    private let state = InlineLock(State())

    /// - Parameters:
    ///   - upstream: A publisher of values in addition to those that are sent.
    ///   - queue: The serial queue on which values are delivered, or `nil` if calls of `send` don't overlap.
    init(_ upstream: AnyPublisher<Value, Never>? = nil, in queue: SerialQueue?) {
        self.upstream = upstream
        self.queue = queue
    }

    /// The publisher of the values.
    var publisher: AnyPublisher<Value, Never> {
        AnyPublisher(StreamPublisher { [self] subscriber in addSubscriber(subscriber) })
    }

    private struct StreamPublisher: Publisher {
        typealias Output = Value
        typealias Failure = Never

        let addSubscriber: (AnySubscriber<Value, Never>) -> Void

        func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Value, Downstream.Failure == Never {
            addSubscriber(AnySubscriber(subscriber))
        }
    }

    /// Delivers a value to all subscribers, on the serial queue if there is one.
    func send(_ value: Value) {
        if mustWait() { enqueue { $0.deliver(value) } } else { deliver(value) }
    }

    /// Whether work must wait for the queue: the calling thread isn't running the queue's work, or values that other
    /// threads have sent before are waiting. Counts work that must wait.
    private func mustWait() -> Bool {
        guard let queue else { return false }
        return state.withLock { state in
            if state.waitingCount == 0, queue.isCurrent { return false }
            state.waitingCount += 1
            return true
        }
    }

    private func enqueue(_ work: @escaping (SharedStream) -> Void) {
        queue?.enqueue { [self] in
            state.withLock { $0.waitingCount -= 1 }
            work(self)
        }
    }

    private func deliver(_ value: Value) {
        let subscriptions = state.withLock { $0.subscriptions }
        for subscription in subscriptions { subscription.receive(value) }
    }

    private func addSubscriber(_ subscriber: AnySubscriber<Value, Never>) {
        let subscription = StreamSubscription(subscriber, to: self)
        let (isFinished, isFirst) = state.withLock { state in
            if state.isFinished { return (true, false) }
            state.subscriptions.append(subscription)
            let isFirst = !state.isConnected && upstream != nil
            if isFirst { state.isConnected = true }
            return (false, isFirst)
        }
        subscriber.receive(subscription: subscription)
        if isFinished { return subscription.finish() }
        if isFirst { connect() }
    }

    private func connect() {
        upstream?.subscribe(
            AnySubscriber<Value, Never>(
                receiveSubscription: { self.connected(SendableSubscription($0)) },
                receiveValue: { value in
                    self.send(value)
                    return .none
                },
                receiveCompletion: { _ in self.finish() }
            )
        )
    }

    private func connected(_ upstreamSubscription: SendableSubscription) {
        let isWanted = state.withLock { state in
            guard state.isConnected else { return false }
            state.upstreamSubscription = upstreamSubscription
            return true
        }
        if isWanted { upstreamSubscription.request(.unlimited) } else { upstreamSubscription.cancel() }
    }

    /// Completes the stream.
    func finish() {
        if mustWait() { enqueue { $0.finishAll() } } else { finishAll() }
    }

    private func finishAll() {
        let subscriptions = state.withLock { state in
            let subscriptions = state.subscriptions
            state = State(isFinished: true, waitingCount: state.waitingCount)
            return subscriptions
        }
        for subscription in subscriptions { subscription.finish() }
    }

    private func remove(_ subscription: StreamSubscription) {
        let upstreamSubscription = state.withLock { state -> SendableSubscription? in
            state.subscriptions.removeAll { $0 === subscription }
            guard state.subscriptions.isEmpty else { return nil }
            state.isConnected = false
            return state.upstreamSubscription.take()
        }
        upstreamSubscription?.cancel()
    }
}
