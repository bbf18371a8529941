import BeagleNetHTTP

/// Calls completions that are due before the call that they belong to has returned, in order and in one task.
final class CompletionQueue: Sendable {
    /// A completion and its outcome. A bare closure in a generic container would be wrapped again each time it is read.
    private struct Call: Sendable {
        let outcome: NetworkOperation.Outcome
        let complete: @Sendable (NetworkOperation.Outcome) -> Void
    }

    private struct State: Sendable {
        var calls: [Call] = []
        var isRunning = false
    }

    private let state = Lock(State())

    /// Calls a completion soon, never from inside this call.
    func add(
        _ outcome: NetworkOperation.Outcome,
        for complete: @escaping @Sendable (NetworkOperation.Outcome) -> Void
    ) {
        let isFirst = state.withLock { state in
            state.calls.append(Call(outcome: outcome, complete: complete))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { Task.detached { self.run() } }
    }

    private func run() {
        while let calls = next() {
            for call in calls { call.complete(call.outcome) }
        }
    }

    private func next() -> [Call]? {
        state.withLock { state in
            defer { state.calls = [] }
            state.isRunning = !state.calls.isEmpty
            return state.isRunning ? state.calls : nil
        }
    }
}
