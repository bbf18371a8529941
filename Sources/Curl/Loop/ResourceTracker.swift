import BeagleNetHTTP

/// A count of the resources that a transport holds, so that tests can check for leaks.
///
/// Only debug builds count.
package final class ResourceTracker: Sendable {
    /// A counted kind of resource.
    package enum Item: Sendable, CaseIterable {
        /// Event loops with their threads.
        case loop
        /// Transfers, retained by the loop or by a token.
        case transfer
        /// Requests on the wire, each with its easy handle.
        case hop
        /// Sockets that libcurl has open.
        case socket
        /// Streamed response bodies, each with a reader that may be waiting.
        case pipe
        /// WebSockets, each with a reader and senders that may be waiting.
        case webSocket
        /// Streamed request bodies, each with a task that reads them.
        case upload
        /// Bytes that pipes and their readers hold.
        case buffered
        /// Memory blocks for streamed bodies: in use by a pipe, unused, or retained by the owner of a piece.
        case slab
    }

    #if COUNTS_LEFTOVERS
        /// The tracker for transports created in this task; `nil` disables counting.
        @TaskLocal package static var current: ResourceTracker?
    #else
        package static let current: ResourceTracker? = nil
    #endif

    private struct State {
        var counts: [Item: Int] = [:]
        var peaks: [Item: Int] = [:]
        /// Completed when no resources are in use; `nil` if no task waits.
        var whenEmpty: Promise<Void>?
    }

    private let state = Lock(State())

    package init() {}

    /// The resources in use, with their counts.
    package var inUse: [Item: Int] { state.withLock { $0.counts.filter { $0.value != 0 } } }

    /// Returns the maximum number of an item that existed at the same time.
    package func peak(_ item: Item) -> Int { state.withLock { $0.peaks[item] ?? 0 } }

    /// Waits until no resources are in use or the task is cancelled.
    package func waitUntilEmpty() async {
        let whenEmpty: Promise<Void>? = state.withLock { state in
            if state.counts.allSatisfy({ $0.value == 0 }) { return nil }
            let whenEmpty = state.whenEmpty ?? Promise()
            state.whenEmpty = whenEmpty
            return whenEmpty
        }
        await whenEmpty?.valueUnlessCancelled()
    }

    /// Adds to an item's count; a negative count subtracts.
    func add(_ item: Item, _ count: Int = 1) {
        #if COUNTS_LEFTOVERS
            let whenEmpty: Promise<Void>? = state.withLock { state in
                let now = (state.counts[item] ?? 0) + count
                state.counts[item] = now
                state.peaks[item] = max(state.peaks[item] ?? 0, now)
                return state.counts.allSatisfy { $0.value == 0 } ? state.whenEmpty.take() : nil
            }
            whenEmpty?.complete()
        #endif
    }

    /// A counted item. The counted object stores it, so that it counts during the object's lifetime.
    struct Entry: ~Copyable {
        #if COUNTS_LEFTOVERS
            private let item: Item
            private let resourceTracker: ResourceTracker?

            init(_ item: Item, in resourceTracker: ResourceTracker?) {
                self.item = item
                self.resourceTracker = resourceTracker
                resourceTracker?.add(item)
            }

            deinit {
                resourceTracker?.add(item, -1)
            }
        #else
            init(_ item: Item, in resourceTracker: ResourceTracker?) {}
        #endif
    }
}
