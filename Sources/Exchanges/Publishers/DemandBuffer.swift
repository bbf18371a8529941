import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Delivers values from several sources to one subscriber, one at a time and within its demand.
///
/// Values beyond the demand are buffered. With a limit, the oldest buffered values are dropped. `merge` and `takeUntil`
/// need no limit because they request only as many values as the subscriber wants. `ForwardingPublisher` has none
/// because a chain must not lose values. Its subscriber is a `SharedStream`, which has unlimited demand. Only an app's
/// own exchange between the two can have less, and its values are then buffered here.
///
/// `@unchecked Sendable` is sound because `state` is protected by its lock, and `downstream` and `onDemand` never
/// change and are called only by the delivery that has set `isDelivering`. There is only one at a time, and the lock
/// orders one after another.
final class DemandBuffer<Downstream: Subscriber>: @unchecked Sendable {
    /// `@unchecked Sendable` is sound because values and the completion are handed over by the sending thread and then
    /// belong to the thread that delivers or drops them. The thread that removes them under the lock is their only
    /// owner.
    private struct State: @unchecked Sendable {
        var demand = Subscribers.Demand.none
        var values: [Downstream.Input] = []
        /// The number of buffered values at the front that are already delivered.
        var deliveredCount = 0
        var isDelivering = false
        var completion: Subscribers.Completion<Downstream.Failure>?
        var isFinished = false

        var isEmpty: Bool { deliveredCount == values.count }

        mutating func popFirst() -> Downstream.Input {
            deliveredCount += 1
            let value = values[deliveredCount - 1]
            if deliveredCount == values.count {
                values.removeAll(keepingCapacity: deliveredCount <= 64)
                deliveredCount = 0
            } else if deliveredCount > 32, deliveredCount > values.count / 2 {
                values.removeFirst(deliveredCount)
                deliveredCount = 0
            }
            return value
        }
    }

    /// A value or completion that is moved into or out of the state. `@unchecked Sendable` is sound for the same
    /// reason.
    private enum Step: @unchecked Sendable {
        case value(Downstream.Input)
        case completion(Subscribers.Completion<Downstream.Failure>)
    }

    private let state = InlineLock(State())
    private let downstream: Downstream
    private let limit: Int
    private let onDemand: ((Subscribers.Demand) -> Void)?

    /// - Parameters:
    ///   - limit: The maximum number of buffered values.
    ///   - onDemand: Called with the additional demand that the subscriber returns for a value.
    init(to downstream: Downstream, limit: Int = .max, onDemand: ((Subscribers.Demand) -> Void)? = nil) {
        self.downstream = downstream
        self.limit = limit
        self.onDemand = onDemand
    }

    /// Adds to the subscriber's demand.
    func request(_ demand: Subscribers.Demand) {
        state.withLock { $0.demand += demand }
        deliver()
    }

    /// Whether the demand is unlimited.
    var isUnlimited: Bool { state.withLock { $0.demand == .unlimited } }

    /// Whether all values are delivered.
    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    /// Delivers a value, or buffers it until the subscriber demands it.
    ///
    /// - Returns: Whether an older value was dropped.
    @discardableResult func send(_ value: Downstream.Input) -> Bool {
        let box = Step.value(value)
        var dropped: Step?
        let isDue = state.withLock { state in
            guard !state.isFinished, state.completion == nil, case .value(let value) = box else { return false }
            if !state.isDelivering, state.demand > .none, state.isEmpty {
                state.isDelivering = true
                state.demand -= 1
                return true
            }
            state.values.append(value)
            if state.values.count - state.deliveredCount > limit { dropped = .value(state.popFirst()) }
            return false
        }
        if isDue {
            deliver(value)
            drain()
        } else {
            deliver()
        }
        return dropped != nil
    }

    /// Completes the stream.
    ///
    /// - Parameter dropsBuffered: Whether buffered values are dropped.
    func finish(_ completion: Subscribers.Completion<Downstream.Failure>, dropsBuffered: Bool = false) {
        let box = Step.completion(completion)
        state.withLock { state in
            guard !state.isFinished, state.completion == nil, case .completion(let completion) = box else { return }
            state.completion = completion
            if dropsBuffered { (state.values, state.deliveredCount) = ([], 0) }
        }
        deliver()
    }

    /// Stops the delivery and drops buffered values.
    func cancel() {
        let dropped = state.withLock { state in
            let dropped = state
            state.isFinished = true
            (state.values, state.deliveredCount) = ([], 0)
            state.completion = nil
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    private func deliver() {
        let isFree = state.withLock { state in
            if state.isDelivering { return false }
            state.isDelivering = true
            return true
        }
        if isFree { drain() }
    }

    private func drain() {
        while let step = next() {
            switch step {
            case .value(let value): deliver(value)
            case .completion(let completion): downstream.receive(completion: completion)
            }
        }
    }

    private func deliver(_ value: Downstream.Input) {
        let more = downstream.receive(value)
        guard more > .none else { return }
        state.withLock { $0.demand += more }
        onDemand?(more)
    }

    private func next() -> Step? {
        state.withLock { state in
            if !state.isFinished, state.demand > .none, !state.isEmpty {
                state.demand -= 1
                return .value(state.popFirst())
            }
            if !state.isFinished, state.isEmpty, let completion = state.completion {
                state.isFinished = true
                state.completion = nil
                return .completion(completion)
            }
            state.isDelivering = false
            return nil
        }
    }
}
