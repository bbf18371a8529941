import BeagleNetHTTP

/// A value that many threads change and that tests wait for.
final class AwaitedValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var waiters: [(isMet: @Sendable (Value) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Lock<State>

    init(_ value: Value) {
        state = Lock(State(value: value))
    }

    var value: Value { state.withLock { $0.value } }

    func note<Answer: Sendable>(_ change: (inout Value) -> Answer) -> Answer {
        let (answer, met) = state.withLock { state in
            let answer = change(&state.value)
            let met = state.waiters.filter { $0.isMet(state.value) }
            state.waiters.removeAll { $0.isMet(state.value) }
            return (answer, met.map(\.continuation))
        }
        for continuation in met { continuation.resume() }
        return answer
    }

    func until(_ isMet: @escaping @Sendable (Value) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMetAlready = state.withLock { state in
                if isMet(state.value) { return true }
                state.waiters.append((isMet, continuation))
                return false
            }
            if isMetAlready { continuation.resume() }
        }
    }
}
