import BeagleNetHTTP

/// The images that wait for their transfer because there are too many already.
final class ImageQueue: Sendable {
    private struct Waiting: Sendable {
        let host: String
        let control: Priority.Control
        let turn = Promise<Void>()
    }

    private struct State: Sendable {
        var running = 0
        var runningOfHost: [String: Int] = [:]
        var waiting: [Waiting] = []
    }

    private let state = Lock(State())
    private let maxTransfers: Int
    private let maxTransfersPerHost: Int

    /// Creates a queue with limits of at least 1.
    init(maxTransfers: Int, maxTransfersPerHost: Int) {
        self.maxTransfers = max(1, maxTransfers)
        self.maxTransfersPerHost = max(1, maxTransfersPerHost)
    }

    /// Performs a transfer as soon as the limits allow it.
    ///
    /// - Parameter control: The priority, which is read each time a place becomes free.
    /// - Throws: `NetworkError` of kind `.cancelled` if the task is cancelled before, or the error of the transfer.
    nonisolated(nonsending) func run<R>(
        host: String,
        _ control: Priority.Control,
        _ transfer: nonisolated(nonsending) () async throws(NetworkError) -> R
    ) async throws(NetworkError) -> R {
        await wait(host, control)
        defer { leave(host) }
        if Task.isCancelled { throw .cancelledBeforeStart }
        return try await transfer()
    }

    nonisolated(nonsending) private func wait(_ host: String, _ control: Priority.Control) async {
        let turn: Promise<Void>? = state.withLock { state in
            if hasRoom(state, host) {
                take(&state, host)
                return nil
            }
            let waiting = Waiting(host: host, control: control)
            state.waiting.append(waiting)
            return waiting.turn
        }
        guard let turn, await turn.valueUnlessCancelled() == nil else { return }
        state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.turn === turn }) else { return }
            // It takes a place that isn't there, and leaves it immediately.
            state.waiting.remove(at: index)
            take(&state, host)
        }
    }

    /// The number of images that wait.
    var count: Int { state.withLock { $0.waiting.count } }

    private func leave(_ host: String) {
        let next = state.withLock { state in
            state.running -= 1
            let left = (state.runningOfHost[host] ?? 1) - 1
            state.runningOfHost[host] = left > 0 ? left : nil
            return takeNext(&state)
        }
        for next in next { next.turn.complete() }
    }

    /// Removes the images that may start now, the highest priority first, and the oldest of each priority.
    private func takeNext(_ state: inout State) -> [Waiting] {
        var next: [Waiting] = []
        while state.running < maxTransfers {
            var best: (index: Int, priority: Priority)?
            for (index, waiting) in state.waiting.enumerated() where hasRoom(state, waiting.host) {
                let priority = waiting.control.priority
                if best.map({ $0.priority < priority }) ?? true { best = (index, priority) }
            }
            guard let best else { break }
            let waiting = state.waiting.remove(at: best.index)
            take(&state, waiting.host)
            next.append(waiting)
        }
        return next
    }

    private func hasRoom(_ state: State, _ host: String) -> Bool {
        state.running < maxTransfers && state.runningOfHost[host] ?? 0 < maxTransfersPerHost
    }

    private func take(_ state: inout State, _ host: String) {
        state.running += 1
        state.runningOfHost[host, default: 0] += 1
    }
}
