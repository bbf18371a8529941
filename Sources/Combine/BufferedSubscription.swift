import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// A Combine subscription to values from another thread. It starts the source when the subscriber first requests a
/// value, delivers values one at a time according to demand, and buffers the others up to a limit.
final class BufferedSubscription<Output: Sendable, Failure: Error>: Subscription, Sendable {
    /// A closure that starts the source and returns a token to cancel it.
    typealias Start = @Sendable (BufferedSubscription) -> any RequestToken

    /// The subscriber. `@unchecked Sendable` is sound because only the delivery that has set `isDelivering` calls the
    /// subscriber, and the lock passes that right from thread to thread. The code that takes it out of the state sends
    /// it the completion, after the last value of the same delivery. Other owners, such as `cancel`, only release it.
    private struct Downstream: @unchecked Sendable {
        let subscriber: AnySubscriber<Output, Failure>
    }

    private enum Step: Sendable {
        case value(Output, Downstream)
        case completion(Subscribers.Completion<Failure>, Downstream)
    }

    private struct State: Sendable {
        /// The subscriber; `nil` after the end.
        var downstream: Downstream?
        var hasStarted = false
        var demand = Subscribers.Demand.none
        var buffer = Queue<Output>()
        var completion: Subscribers.Completion<Failure>?
        var isDelivering = false
        var isCancelled = false
        /// The token of the source; `nil` before the source starts and after it has ended.
        var token: (any RequestToken)?
        /// Whether any value has been dropped.
        var hasDropped = false

        /// Returns the next delivery, or `nil` at the end of the current delivery loop.
        mutating func next() -> Step? {
            if let downstream, demand > .none, let value = buffer.popFirst() {
                demand -= 1
                return .value(value, downstream)
            }
            isDelivering = false
            guard let downstream, buffer.isEmpty, let completion else { return nil }
            self.downstream = nil
            return .completion(completion, downstream)
        }
    }

    private let state: Lock<State>
    private let limit: Int?
    private let maxBytes: Int?
    private let onDrop: (@Sendable () -> Void)?
    private let start: Start

    /// Creates a subscription.
    ///
    /// - Parameters:
    ///   - subscriber: The subscriber that receives the values.
    ///   - limit: The maximum number of buffered values, above which the oldest are dropped; `nil` for no limit.
    ///   - bytes: The limit on the size of the buffered values, which doesn't apply to a single value; `nil` for no
    ///     limit.
    ///   - onDrop: Called when the first value is dropped.
    ///   - start: Called once, when the subscriber first requests a value.
    init(
        to subscriber: some Subscriber<Output, Failure>,
        bufferLimit limit: Int?,
        bytes: ByteLimit<Output>? = nil,
        onDrop: (@Sendable () -> Void)? = nil,
        start: @escaping Start
    ) {
        let downstream = Downstream(subscriber: AnySubscriber(subscriber))
        state = Lock(State(downstream: downstream, buffer: Queue(size: bytes?.size)))
        self.limit = limit
        maxBytes = bytes?.limit
        self.onDrop = onDrop
        self.start = start
    }

    /// Adds to the subscriber's demand.
    func request(_ demand: Subscribers.Demand) {
        let isFirst = state.withLock { state in
            state.demand += demand
            if state.hasStarted || state.downstream == nil || demand == .none { return false }
            state.hasStarted = true
            return true
        }
        if isFirst { store(start(self)) }
        deliver()
    }

    /// Stores the token of the source, unless the source has already ended or was cancelled.
    private func store(_ token: any RequestToken) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled, state.completion == nil { state.token = token }
            return state.isCancelled
        }
        if isCancelled { token.cancel() }
    }

    /// Cancels the source. Afterwards no new delivery begins.
    func cancel() {
        let ended = state.withLock { state in
            let ended = state
            state = State(hasStarted: true, isDelivering: state.isDelivering, isCancelled: true)
            return ended
        }
        ended.token?.cancel()
    }

    /// Sends a value.
    func send(_ value: Output) {
        let (dropped, isFirst): ([Output], Bool) = state.withLock { state in
            guard state.downstream != nil, state.completion == nil else { return ([], false) }
            state.buffer.append(value)
            var dropped: [Output] = []
            while exceedsLimit(state.buffer.count, state.buffer.bytes), let oldest = state.buffer.popFirst() {
                dropped.append(oldest)
            }
            if dropped.isEmpty || state.hasDropped { return (dropped, false) }
            state.hasDropped = true
            return (dropped, true)
        }
        withExtendedLifetime(dropped) {}
        if isFirst { onDrop?() }
        deliver()
    }

    private func exceedsLimit(_ count: Int, _ bytes: Int) -> Bool {
        if let limit, count > limit { return true }
        guard let maxBytes, count > 1 else { return false }
        return bytes > maxBytes
    }

    /// Sends the completion.
    func finish(_ completion: Subscribers.Completion<Failure>) {
        let token: (any RequestToken)? = state.withLock { state in
            guard state.downstream != nil, state.completion == nil else { return nil }
            state.completion = completion
            return state.token.take()
        }
        withExtendedLifetime(token) {}
        deliver()
    }

    /// Delivers all values that are due. If another thread is already delivering, that thread does so.
    private func deliver() {
        let isFree = state.withLock { state in
            if state.isDelivering { return false }
            state.isDelivering = true
            return true
        }
        guard isFree else { return }
        while let step = state.withLock({ $0.next() }) {
            switch step {
            case .value(let value, let downstream):
                let more = downstream.subscriber.receive(value)
                state.withLock { $0.demand += more }
            case .completion(let completion, let downstream):
                return downstream.subscriber.receive(completion: completion)
            }
        }
    }
}

/// A first-in, first-out queue with amortized constant-time operations.
private struct Queue<Element> {
    private var incoming: [Element] = []
    /// The front of the queue in reverse order.
    private var outgoing: [Element] = []
    private let size: (@Sendable (Element) -> Int)?
    /// The total size of all elements; 0 if sizes aren't counted.
    private(set) var bytes = 0

    init(size: (@Sendable (Element) -> Int)? = nil) {
        self.size = size
    }

    var count: Int { incoming.count + outgoing.count }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        incoming.append(element)
        if let size { bytes += size(element) }
    }

    mutating func popFirst() -> Element? {
        if outgoing.isEmpty {
            outgoing = incoming.reversed()
            incoming = []
        }
        let first = outgoing.popLast()
        if let first, let size { bytes -= size(first) }
        return first
    }
}

extension Queue: Sendable where Element: Sendable {}
