import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// One subscriber's side of values that come from another thread: begins when the first is wanted, hands over as many as
/// are wanted, one after another, and keeps the rest, or the newest of it.
final class Outlet<Output: Sendable, Failure: Error>: Subscription, Sendable {
    /// Begins to send; the token ends it.
    typealias Begin = @Sendable (Outlet) -> any RequestToken

    /// `@unchecked Sendable` is sound because only the delivery that has set `isDelivering` calls the subscriber, and the
    /// lock hands that right from thread to thread; of the end it is told by whoever took it out of the state, behind the
    /// last value of the same delivery. Whoever else holds it, as `cancel` does, only lets it go.
    private struct Downstream: @unchecked Sendable {
        let subscriber: AnySubscriber<Output, Failure>
    }

    private enum Step: Sendable {
        case value(Output, Downstream)
        case completion(Subscribers.Completion<Failure>, Downstream)
    }

    private struct State: Sendable {
        /// nil after the end.
        var downstream: Downstream?
        var hasBegun = false
        var demand = Subscribers.Demand.none
        var kept = Queue<Output>()
        var completion: Subscribers.Completion<Failure>?
        var isDelivering = false
        var isCancelled = false
        /// nil before the beginning, and when there is nothing to end any more.
        var token: (any RequestToken)?
        /// Whether anything had to make room.
        var hasDropped = false

        /// What is due; where it is nothing, the delivery is over.
        mutating func next() -> Step? {
            if let downstream, demand > .none, let value = kept.popFirst() {
                demand -= 1
                return .value(value, downstream)
            }
            isDelivering = false
            guard let downstream, kept.isEmpty, let completion else { return nil }
            self.downstream = nil
            return .completion(completion, downstream)
        }
    }

    private let state: Lock<State>
    private let limit: Int?
    private let maxBytes: Int?
    private let onDrop: (@Sendable () -> Void)?
    private let begin: Begin

    /// An outlet.
    ///
    /// - Parameters:
    ///   - subscriber: who takes the values.
    ///   - limit: how many are kept that nobody wants yet; then the oldest make room. nil keeps all.
    ///   - bytes: how many bytes they may have, one apart, which is kept whatever its size; nil counts none.
    ///   - onDrop: hears that one had to make room, the first time.
    ///   - begin: called once, when the first value is wanted.
    init(
        to subscriber: some Subscriber<Output, Failure>,
        keeping limit: Int?,
        bytes: ByteLimit<Output>? = nil,
        onDrop: (@Sendable () -> Void)? = nil,
        begin: @escaping Begin
    ) {
        let downstream = Downstream(subscriber: AnySubscriber(subscriber))
        state = Lock(State(downstream: downstream, kept: Queue(size: bytes?.size)))
        self.limit = limit
        maxBytes = bytes?.limit
        self.onDrop = onDrop
        self.begin = begin
    }

    /// Wants so many values more.
    func request(_ demand: Subscribers.Demand) {
        let isFirst = state.withLock { state in
            state.demand += demand
            if state.hasBegun || state.downstream == nil || demand == .none { return false }
            state.hasBegun = true
            return true
        }
        if isFirst { hold(begin(self)) }
        deliver()
    }

    /// Keeps what ends the sending, unless that is over or unwanted already.
    private func hold(_ token: any RequestToken) {
        let isUnwanted = state.withLock { state in
            if !state.isCancelled, state.completion == nil { state.token = token }
            return state.isCancelled
        }
        if isUnwanted { token.cancel() }
    }

    /// Ends the sending; nothing is delivered that was not begun.
    func cancel() {
        let ended = state.withLock { state in
            let ended = state
            state = State(hasBegun: true, isDelivering: state.isDelivering, isCancelled: true)
            return ended
        }
        ended.token?.cancel()
    }

    /// Sends a value.
    func send(_ value: Output) {
        let (dropped, isFirst): ([Output], Bool) = state.withLock { state in
            guard state.downstream != nil, state.completion == nil else { return ([], false) }
            state.kept.append(value)
            var dropped: [Output] = []
            while isTooMuch(state.kept.count, state.kept.bytes), let oldest = state.kept.popFirst() {
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

    private func isTooMuch(_ count: Int, _ bytes: Int) -> Bool {
        if let limit, count > limit { return true }
        guard let maxBytes, count > 1 else { return false }
        return bytes > maxBytes
    }

    /// Sends the end.
    func finish(_ completion: Subscribers.Completion<Failure>) {
        let token: (any RequestToken)? = state.withLock { state in
            guard state.downstream != nil, state.completion == nil else { return nil }
            state.completion = completion
            return state.token.take()
        }
        withExtendedLifetime(token) {}
        deliver()
    }

    /// Hands over what is due, unless somebody is about it, who then does it.
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

/// How many bytes values may have together.
struct ByteLimit<Value>: Sendable {
    let limit: Int
    /// Those of one.
    let size: @Sendable (Value) -> Int
}

/// What was put in first comes out first, in the same time however much there is.
private struct Queue<Element> {
    private var incoming: [Element] = []
    /// The first is the last of it.
    private var outgoing: [Element] = []
    private let size: (@Sendable (Element) -> Int)?
    /// Of all in it; 0 where none are counted.
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
