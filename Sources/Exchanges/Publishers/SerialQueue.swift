import BeagleNetHTTP
import Synchronization
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A serial queue for the operations and results of an exchange chain.
///
/// Work runs one item at a time, on whichever thread submits it. Callers never block: if another thread is running
/// work, the caller adds its work to the queue, and that thread runs it.
///
/// A thread that has run `limit` items for other callers hands the rest over to a task, because it may be the main
/// thread.
final class SerialQueue: Sendable {
    /// A unit of work. `@unchecked Sendable` is sound because the body runs once, on the thread that removed it from
    /// the state, and its captures belong to that thread. Others access them only in work on this queue, which runs one
    /// item at a time.
    private struct Work: @unchecked Sendable {
        let body: () -> Void
    }

    private struct State: Sendable {
        var isBusy = false
        var pending: [Work] = []
        /// The number of items at the front that have run.
        var finishedCount = 0

        mutating func next() -> Work? {
            if end() { return nil }
            // Remove finished items even if other threads keep adding work.
            if finishedCount > 64, finishedCount > pending.count / 2 {
                pending.removeFirst(finishedCount)
                finishedCount = 0
            }
            finishedCount += 1
            return pending[finishedCount - 1]
        }

        /// Frees the queue if no work is left.
        mutating func end() -> Bool {
            guard finishedCount == pending.count else { return false }
            pending.removeAll(keepingCapacity: pending.capacity <= 64)
            finishedCount = 0
            isBusy = false
            return true
        }
    }

    private let state = InlineLock(State())
    private let limit: Int

    /// - Parameter limit: The number of items that a thread runs for other callers before it hands the rest over. Above
    ///   0.
    init(limit: Int = 1_000) {
        self.limit = limit
    }

    /// The thread that is running work, or 0 if the queue is free. Only a thread itself can find its own number here.
    private let owner = Atomic<UInt>(0)

    /// Whether the calling thread is running work of this queue.
    var isCurrent: Bool { owner.load(ordering: .relaxed) == Self.thread }

    /// Runs work immediately if the queue is free or the calling thread is already running its work, and otherwise adds
    /// it to the queue.
    func run(_ body: @escaping () -> Void) {
        let thread = Self.thread
        if owner.load(ordering: .relaxed) == thread { return body() }
        let work = Work(body: body)
        let isFree = state.withLock { state in
            guard state.isBusy else {
                state.isBusy = true
                return true
            }
            state.pending.append(work)
            return false
        }
        if isFree { start(body, thread) }
    }

    /// Runs work as a separate item, after all items that are running or pending.
    func enqueue(_ body: @escaping () -> Void) {
        let work = Work(body: body)
        let isFree = state.withLock { state in
            guard state.isBusy else {
                state.isBusy = true
                return true
            }
            state.pending.append(work)
            return false
        }
        if isFree { start(body, Self.thread) }
    }

    private func start(_ body: () -> Void, _ thread: UInt) {
        owner.store(thread, ordering: .relaxed)
        body()
        drain()
    }

    /// Runs the work that other threads have added. The calling thread must hold the queue.
    private func drain() {
        for _ in 0..<limit {
            // Clears the owner before the lock lets another thread take the queue.
            let next = state.withLock { state in
                let next = state.next()
                if next == nil { owner.store(0, ordering: .relaxed) }
                return next
            }
            guard let next else { return }
            next.body()
        }
        owner.store(0, ordering: .relaxed)
        // The queue stays taken until the task runs.
        if !state.withLock({ $0.end() }) { Task.detached { self.resume() } }
    }

    private func resume() {
        owner.store(Self.thread, ordering: .relaxed)
        drain()
    }

    private static var thread: UInt {
        #if canImport(Glibc)
            pthread_self()
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }
}
