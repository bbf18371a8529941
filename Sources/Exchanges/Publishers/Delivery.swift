import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Hands one subscriber what comes from several sides, one after another, as many as it wants.
///
/// `@unchecked Sendable` is sound because values and subscriber are reached only by the delivery that has set
/// `isDelivering`, and the lock hands that right, and the values, from thread to thread.
final class Delivery<Downstream: Subscriber>: @unchecked Sendable {
    private struct State: @unchecked Sendable {
        var demand = Subscribers.Demand.none
        var kept: [Downstream.Input] = []
        var isDelivering = false
        var completion: Subscribers.Completion<Downstream.Failure>?
        var isOver = false
    }

    /// `@unchecked Sendable` for the same reason.
    private enum Step: @unchecked Sendable {
        case value(Downstream.Input)
        case completion(Subscribers.Completion<Downstream.Failure>)
    }

    private let state = InlineLock(State())
    private let downstream: Downstream
    private let onMore: ((Subscribers.Demand) -> Void)?

    /// - Parameter onMore: hears how many more the subscriber wants when it is given a value.
    init(to downstream: Downstream, onMore: ((Subscribers.Demand) -> Void)? = nil) {
        self.downstream = downstream
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
    var isEmpty: Bool { state.withLock { $0.kept.isEmpty } }

    /// Takes a value, and hands it over when it is wanted.
    func send(_ value: Downstream.Input) {
        let box = Step.value(value)
        state.withLock { state in
            guard !state.isOver, state.completion == nil, case .value(let value) = box else { return }
            state.kept.append(value)
        }
        deliver()
    }

    /// Ends it.
    ///
    /// - Parameter isAtOnce: whether what is kept is not handed over any more.
    func finish(_ completion: Subscribers.Completion<Downstream.Failure>, isAtOnce: Bool = false) {
        let box = Step.completion(completion)
        state.withLock { state in
            guard !state.isOver, state.completion == nil, case .completion(let completion) = box else { return }
            state.completion = completion
            if isAtOnce { state.kept = [] }
        }
        deliver()
    }

    /// Hands nothing over any more.
    func cancel() {
        let dropped = state.withLock { state in
            let dropped = Kept(values: state.kept)
            state.isOver = true
            state.kept = []
            state.completion = nil
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// `@unchecked Sendable` for the same reason.
    private struct Kept: @unchecked Sendable {
        let values: [Downstream.Input]
    }

    private func deliver() {
        let isFree = state.withLock { state in
            if state.isDelivering { return false }
            state.isDelivering = true
            return true
        }
        guard isFree else { return }
        while let step = next() {
            switch step {
            case .value(let value):
                let more = downstream.receive(value)
                guard more > .none else { continue }
                state.withLock { $0.demand += more }
                onMore?(more)
            case .completion(let completion):
                downstream.receive(completion: completion)
            }
        }
    }

    private func next() -> Step? {
        state.withLock { state in
            if !state.isOver, state.demand > .none, !state.kept.isEmpty {
                state.demand -= 1
                return .value(state.kept.removeFirst())
            }
            if !state.isOver, state.kept.isEmpty, let completion = state.completion {
                state.isOver = true
                state.completion = nil
                return .completion(completion)
            }
            state.isDelivering = false
            return nil
        }
    }
}
