import BeagleNetHTTP

/// Calls completions that are due before the call that they belong to has returned, in order and in one task.
final class CompletionQueue: Sendable {
    private struct State: Sendable {
        var calls: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Lock(State())

    /// Calls a completion soon, never from inside this call.
    func add(_ call: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.calls.append(call)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { Task.detached { self.run() } }
    }

    private func run() {
        while let calls = next() {
            for call in calls { call() }
        }
    }

    private func next() -> [@Sendable () -> Void]? {
        state.withLock { state in
            defer { state.calls = [] }
            state.isRunning = !state.calls.isEmpty
            return state.isRunning ? state.calls : nil
        }
    }
}
