import BeagleNetHTTP

/// The images that wait for their transfer because there are too many already.
final class ImageQueue: Sendable {
    private struct Waiting: Sendable {
        let id: Int
        let host: String
        let control: Priority.Control
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State: Sendable {
        var running = 0
        var runningOfHost: [String: Int] = [:]
        var waiting: [Waiting] = []
        var lastID = 0
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
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isNext = state.withLock { state in
                    guard !Task.isCancelled, !hasRoom(state, host) else {
                        take(&state, host)
                        return true
                    }
                    state.waiting.append(Waiting(id: id, host: host, control: control, continuation: continuation))
                    return false
                }
                if isNext { continuation.resume() }
            }
        } onCancel: {
            // It takes a place that isn't there, and leaves it at once.
            let cancelled = state.withLock { state in
                let index = state.waiting.firstIndex { $0.id == id }
                let cancelled = index.map { state.waiting.remove(at: $0) }
                if cancelled != nil { take(&state, host) }
                return cancelled
            }
            cancelled?.continuation.resume()
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
        for next in next { next.continuation.resume() }
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
