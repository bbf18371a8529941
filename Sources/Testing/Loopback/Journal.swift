import BeagleNetHTTP

/// The record of a server, which resumes tasks that wait for a condition on it.
final class Journal: Sendable {
    private struct State {
        var record = LoopbackServer.Record()
        var ended: [Int] = []
        var waiters: [Waiter] = []
        var isClosed = false
    }

    private struct Waiter {
        let condition: @Sendable (LoopbackServer.Record) -> Bool
        let isFulfilled = Promise<Bool>()
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
            let fulfilled = state.waiters.partition { $0.condition(state.record) }
            defer { state.waiters.removeSubrange(fulfilled...) }
            return state.waiters[fulfilled...]
        }
        for waiter in woken { waiter.isFulfilled.complete(true) }
    }

    /// Ends all waits, because nothing more will be recorded.
    func close() {
        let left = state.withLock { state in
            defer { state.waiters = [] }
            state.isClosed = true
            return state.waiters
        }
        for waiter in left { waiter.isFulfilled.complete(false) }
    }

    func until(_ condition: @escaping @Sendable (LoopbackServer.Record) -> Bool) async -> Bool {
        let waiter = Waiter(condition: condition)
        let answer: Bool? = state.withLock { state in
            if condition(state.record) { return true }
            if state.isClosed { return false }
            state.waiters.append(waiter)
            return nil
        }
        if let answer { return answer }
        if let answer = await waiter.isFulfilled.valueUnlessCancelled() { return answer }
        state.withLock { $0.waiters.removeAll { $0.isFulfilled === waiter.isFulfilled } }
        return false
    }
}
