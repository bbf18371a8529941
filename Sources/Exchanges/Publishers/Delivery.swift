import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Delivers values from several sources to one subscriber, one at a time and within its demand.
///
/// Values beyond the demand are buffered. With a limit, the oldest buffered values are dropped. `merge` and `takeUntil`
/// need no limit because they request only as many values as the subscriber wants. `Fork` has none because a chain must
/// not lose values. Its subscriber is a `Rung`, which has unlimited demand. Only an app's own exchange between the two
/// can have less, and its values are then buffered here.
///
/// `@unchecked Sendable` is sound because `state` is protected by its lock, and `downstream` and `onMore` never change
/// and are called only by the delivery that has set `isDelivering`. There is only one at a time, and the lock orders
/// one after another.
final class Delivery<Downstream: Subscriber>: @unchecked Sendable {
    /// `@unchecked Sendable` is sound because values and the completion are handed over by the sending thread and then
    /// belong to the thread that delivers or drops them. The thread that removes them under the lock is their only
    /// owner.
    private struct State: @unchecked Sendable {
        var demand = Subscribers.Demand.none
        var kept: [Downstream.Input] = []
        /// The number of buffered values at the front that are already delivered.
        var given = 0
        var isDelivering = false
        var completion: Subscribers.Completion<Downstream.Failure>?
        var isOver = false

        var isEmpty: Bool { given == kept.count }

        mutating func popFirst() -> Downstream.Input {
            given += 1
            let value = kept[given - 1]
            if given == kept.count {
                kept.removeAll(keepingCapacity: given <= 64)
                given = 0
            } else if given > 32, given > kept.count / 2 {
                kept.removeFirst(given)
                given = 0
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
    private let onMore: ((Subscribers.Demand) -> Void)?

    /// - Parameters:
    ///   - limit: The maximum number of buffered values.
    ///   - onMore: Called with the additional demand that the subscriber returns for a value.
    init(to downstream: Downstream, limit: Int = .max, onMore: ((Subscribers.Demand) -> Void)? = nil) {
        self.downstream = downstream
        self.limit = limit
        self.onMore = onMore
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
            guard !state.isOver, state.completion == nil, case .value(let value) = box else { return false }
            if !state.isDelivering, state.demand > .none, state.isEmpty {
                state.isDelivering = true
                state.demand -= 1
                return true
            }
            state.kept.append(value)
            if state.kept.count - state.given > limit { dropped = .value(state.popFirst()) }
            return false
        }
        if isDue {
            give(value)
            goOn()
        } else {
            deliver()
        }
        return dropped != nil
    }

    /// Completes the stream.
    ///
    /// - Parameter isAtOnce: Whether buffered values are dropped.
    func finish(_ completion: Subscribers.Completion<Downstream.Failure>, isAtOnce: Bool = false) {
        let box = Step.completion(completion)
        state.withLock { state in
            guard !state.isOver, state.completion == nil, case .completion(let completion) = box else { return }
            state.completion = completion
            if isAtOnce { (state.kept, state.given) = ([], 0) }
        }
        deliver()
    }

    /// Stops the delivery and drops buffered values.
    func cancel() {
        let dropped = state.withLock { state in
            let dropped = state
            state.isOver = true
            (state.kept, state.given) = ([], 0)
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
        if isFree { goOn() }
    }

    private func goOn() {
        while let step = next() {
            switch step {
            case .value(let value): give(value)
            case .completion(let completion): downstream.receive(completion: completion)
            }
        }
    }

    private func give(_ value: Downstream.Input) {
        let more = downstream.receive(value)
        guard more > .none else { return }
        state.withLock { $0.demand += more }
        onMore?(more)
    }

    private func next() -> Step? {
        state.withLock { state in
            if !state.isOver, state.demand > .none, !state.isEmpty {
                state.demand -= 1
                return .value(state.popFirst())
            }
            if !state.isOver, state.isEmpty, let completion = state.completion {
                state.isOver = true
                state.completion = nil
                return .completion(completion)
            }
            state.isDelivering = false
            return nil
        }
    }
}
