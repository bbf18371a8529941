import Synchronization

/// Requests whose completions begin the next one.
struct CallbackLoop: ClosedLoop {
    typealias Completion = @Sendable (Result<Int, any Error>) -> Void

    let begin: @Sendable (@escaping Completion) -> Void

    func run(_ requests: Int, tasks: Int) async -> Outcome {
        await withCheckedContinuation { continuation in
            let chains = Chains(begin, requests) { continuation.resume(returning: $0) }
            for _ in 0..<min(tasks, requests) { chains.beginNext() }
        }
    }

    private final class Chains: Sendable {
        private struct State {
            var left: Int
            var outcome = Outcome()
        }

        private let begin: @Sendable (@escaping Completion) -> Void
        private let requests: Int
        private let finish: @Sendable (Outcome) -> Void
        private let state: Mutex<State>

        init(
            _ begin: @escaping @Sendable (@escaping Completion) -> Void,
            _ requests: Int,
            finish: @escaping @Sendable (Outcome) -> Void
        ) {
            self.begin = begin
            self.requests = requests
            self.finish = finish
            var state = State(left: requests)
            state.outcome.latencies.reserveCapacity(requests)
            self.state = Mutex(state)
        }

        func beginNext() {
            let isOver = state.withLock { state in
                if state.left == 0 { return true }
                state.left -= 1
                return false
            }
            if isOver { return }
            let start = monotonicTime()
            begin { [self] result in
                let whole = state.withLock { state in
                    state.outcome.add(result, since: start)
                    return state.outcome.latencies.count == requests ? state.outcome : nil
                }
                if let whole { finish(whole) } else { beginNext() }
            }
        }
    }
}
