import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Hands one subscriber what comes from several sides, one after another, as many as it wants.
///
/// What is not wanted yet is kept, up to a limit where there is one: then the oldest make room. `merge` and `takeUntil` have
/// none, as they ask their sources for no more than is wanted. A `Fork` has none, as nothing of what passes a ladder may be
/// lost; its subscriber is a `Rung`, which wants all: only an exchange of a user's can put one between that wants less, and it
/// then keeps what it does not want.
///
/// `@unchecked Sendable` is sound because `state` is behind its lock, and `downstream` and `onMore`, which never change, are
/// called only by the delivery that has set `isDelivering`: there is one at a time, and the lock hands that right from thread
/// to thread.
final class Delivery<Downstream: Subscriber>: @unchecked Sendable {
    /// `@unchecked Sendable` is sound because values and the end go through it from the thread that has given them away to
    /// the one that delivers, or lets them go: whoever takes them out, under the lock, is the only one who has them.
    private struct State: @unchecked Sendable {
        var demand = Subscribers.Demand.none
        var kept: [Downstream.Input] = []
        /// How many of them are handed over.
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

    /// What goes into the state, and out of it. `@unchecked Sendable` is sound for the same reason.
    private enum Step: @unchecked Sendable {
        case value(Downstream.Input)
        case completion(Subscribers.Completion<Downstream.Failure>)
    }

    private let state = InlineLock(State())
    private let downstream: Downstream
    private let limit: Int
    private let onMore: ((Subscribers.Demand) -> Void)?

    /// - Parameters:
    ///   - limit: how many values are kept at most that are not wanted yet.
    ///   - onMore: hears how many more the subscriber wants when it is given a value.
    init(to downstream: Downstream, limit: Int = .max, onMore: ((Subscribers.Demand) -> Void)? = nil) {
        self.downstream = downstream
        self.limit = limit
        self.onMore = onMore
    }

    /// Wants so many more.
    func request(_ demand: Subscribers.Demand) {
        state.withLock { $0.demand += demand }
        deliver()
    }

    /// Whether any number is wanted.
    var isUnlimited: Bool { state.withLock { $0.demand == .unlimited } }

    /// Whether everything that came is handed over.
    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    /// Takes a value, and hands it over when it is wanted.
    ///
    /// - Returns: whether an older one had to make room for it.
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

    /// Ends it.
    ///
    /// - Parameter isAtOnce: whether what is kept is not handed over any more.
    func finish(_ completion: Subscribers.Completion<Downstream.Failure>, isAtOnce: Bool = false) {
        let box = Step.completion(completion)
        state.withLock { state in
            guard !state.isOver, state.completion == nil, case .completion(let completion) = box else { return }
            state.completion = completion
            if isAtOnce { (state.kept, state.given) = ([], 0) }
        }
        deliver()
    }

    /// Hands nothing over any more.
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
