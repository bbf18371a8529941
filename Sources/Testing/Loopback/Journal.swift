import BeagleNetHTTP

/// The record of a server, which resumes tasks that wait for a condition on it.
final class Journal: Sendable {
    private struct State {
        var record = LoopbackServer.Record()
        var ended: [Int] = []
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0
        var isClosed = false
    }

    private struct Waiter {
        let condition: @Sendable (LoopbackServer.Record) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private let state = Lock(State())

    var record: LoopbackServer.Record { state.withLock { $0.record } }

    /// Records a new connection and returns its number.
    func begin() -> Int {
        record {
            $0.connections += 1
            $0.openConnections += 1
        }
        return record.connections
    }

    func end(_ connection: Int) {
        record { $0.openConnections -= 1 }
        state.withLock { $0.ended.append(connection) }
    }

    /// Returns the connections that have ended since the last call.
    func takeEnded() -> [Int] {
        state.withLock { state in
            defer { state.ended = [] }
            return state.ended
        }
    }

    func record(_ event: (inout LoopbackServer.Record) -> Void) {
        let woken = state.withLock { state in
            event(&state.record)
            let fulfilled = state.waiters.filter { $0.value.condition(state.record) }
            for id in fulfilled.keys { state.waiters[id] = nil }
            return fulfilled.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume(returning: true) }
    }

    /// Ends all waits, because nothing more will be recorded.
    func close() {
        let left = state.withLock { state in
            defer { state.waiters = [:] }
            state.isClosed = true
            return state.waiters.values.map(\.continuation)
        }
        for continuation in left { continuation.resume(returning: false) }
    }

    func until(_ condition: @escaping @Sendable (LoopbackServer.Record) -> Bool) async -> Bool {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if condition(state.record) { return true }
                    if state.isClosed || Task.isCancelled { return false }
                    state.waiters[id] = Waiter(condition: condition, continuation: continuation)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.continuation.resume(returning: false)
        }
    }
}
