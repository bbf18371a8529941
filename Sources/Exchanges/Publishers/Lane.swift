import BeagleNetHTTP
import Synchronization
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Where a ladder's operations and results take turns: one at a time, whichever threads they are from. Nobody waits: who
/// comes while another has its turn leaves what is to be done, and the other does it.
///
/// A thread that has done so many turns of others, while they keep leaving more, hands the rest to a task: whoever called may
/// be the main thread.
final class Lane: Sendable {
    /// What is to be done. `@unchecked Sendable` is sound because it is done once, by the thread that took it out of the
    /// state, and what it captures is given away to it: others reach it in turns alone, of which there is one at a time.
    private struct Turn: @unchecked Sendable {
        let body: () -> Void
    }

    private struct State: Sendable {
        var isTaken = false
        var waiting: [Turn] = []
        /// How many of them are done.
        var done = 0

        mutating func next() -> Turn? {
            if end() { return nil }
            // What is done is not kept for as long as others leave more.
            if done > 64, done > waiting.count / 2 {
                waiting.removeFirst(done)
                done = 0
            }
            done += 1
            return waiting[done - 1]
        }

        /// Lets another take its turn, where nothing is left.
        mutating func end() -> Bool {
            guard done == waiting.count else { return false }
            waiting.removeAll(keepingCapacity: waiting.capacity <= 64)
            done = 0
            isTaken = false
            return true
        }
    }

    private let state = InlineLock(State())
    private let limit: Int

    /// - Parameter limit: how many turns a thread does after its own before it hands the rest over; above 0.
    init(limit: Int = 1_000) {
        self.limit = limit
    }

    /// The thread that has its turn; 0 where none has. Only a thread itself can find its own number here.
    private let owner = Atomic<UInt>(0)

    /// Whether the calling thread has its turn.
    var isMine: Bool { owner.load(ordering: .relaxed) == Self.thread }

    /// Does something in a turn: at once where no other thread has one, or the calling thread has it already.
    func run(_ body: @escaping () -> Void) {
        let thread = Self.thread
        if owner.load(ordering: .relaxed) == thread { return body() }
        let turn = Turn(body: body)
        let isFree = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return true
            }
            state.waiting.append(turn)
            return false
        }
        if isFree { take(body, thread) }
    }

    /// Does something in a turn of its own, after those that are under way and due.
    func runLater(_ body: @escaping () -> Void) {
        let turn = Turn(body: body)
        let isFree = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return true
            }
            state.waiting.append(turn)
            return false
        }
        if isFree { take(body, Self.thread) }
    }

    private func take(_ body: () -> Void, _ thread: UInt) {
        owner.store(thread, ordering: .relaxed)
        body()
        goOn()
    }

    /// Does what others left. The calling thread has its turn.
    private func goOn() {
        for _ in 0..<limit {
            // Before the lock lets another take its turn.
            let next = state.withLock { state in
                let next = state.next()
                if next == nil { owner.store(0, ordering: .relaxed) }
                return next
            }
            guard let next else { return }
            next.body()
        }
        owner.store(0, ordering: .relaxed)
        // The lane stays taken until that has its turn.
        if !state.withLock({ $0.end() }) { Task.detached { self.resume() } }
    }

    private func resume() {
        owner.store(Self.thread, ordering: .relaxed)
        goOn()
    }

    private static var thread: UInt {
        #if canImport(Glibc)
            pthread_self()
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }
}
