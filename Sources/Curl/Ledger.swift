import BeagleNetHTTP

/// Counts what a transport holds, for tests to see that nothing is left. Only debug builds count.
package final class Ledger: Sendable {
    /// What is counted.
    package enum Item: Sendable, CaseIterable {
        /// Event loops, with their threads.
        case loop
        /// Transfers, held by the loop or by a token.
        case transfer
        /// Messages on the wire, each with its easy handle.
        case hop
        /// Sockets that libcurl has open.
        case socket
        /// Streamed bodies of responses, with a reader that may wait.
        case pipe
        /// WebSockets, with a reader and senders that may wait.
        case webSocket
        /// Streamed bodies of requests, with a task that reads them.
        case upload
        /// Bytes that pipes and their readers hold.
        case buffered
        /// Memory for pieces of streamed bodies: with the pipe, unused, or with who has the piece.
        case slab
    }

    #if COUNTS_LEFTOVERS
        /// What transports made here and now are counted in; nil: they are not.
        @TaskLocal package static var current: Ledger?
    #else
        package static let current: Ledger? = nil
    #endif

    private struct State {
        var counts: [Item: Int] = [:]
        var peaks: [Item: Int] = [:]
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())

    package init() {}

    /// What is there, and how much of it.
    package var left: [Item: Int] { state.withLock { $0.counts.filter { $0.value != 0 } } }

    /// The most that there was at once.
    package func peak(_ item: Item) -> Int { state.withLock { $0.peaks[item] ?? 0 } }

    /// Waits until nothing is left, or the task is cancelled. For one caller at a time.
    package func untilEmpty() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || state.counts.allSatisfy({ $0.value == 0 }) { return true }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }?.resume()
        }
    }

    /// More, or with a negative count less, of something.
    func add(_ item: Item, _ count: Int = 1) {
        #if COUNTS_LEFTOVERS
            let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
                let now = (state.counts[item] ?? 0) + count
                state.counts[item] = now
                state.peaks[item] = max(state.peaks[item] ?? 0, now)
                guard state.counts.allSatisfy({ $0.value == 0 }) else { return nil }
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        #endif
    }

    /// Counts for one as long as it lives: kept by what it counts.
    struct Entry: ~Copyable {
        #if COUNTS_LEFTOVERS
            private let item: Item
            private let ledger: Ledger?

            init(_ item: Item, in ledger: Ledger?) {
                self.item = item
                self.ledger = ledger
                ledger?.add(item)
            }

            deinit {
                ledger?.add(item, -1)
            }
        #else
            init(_ item: Item, in ledger: Ledger?) {}
        #endif
    }
}
