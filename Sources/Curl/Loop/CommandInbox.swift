import BeagleNetHTTP
import Synchronization

/// The commands that other threads send to a loop.
struct CommandInbox: ~Copyable, Sendable {
    private struct State {
        var commands: [EventLoop.Command] = []
        var isClosed = false
    }

    private let state = Lock(State())
    private let isSleeping = Atomic(false)

    /// Adds a command.
    ///
    /// - Returns: Whether the loop sleeps and must be woken; `nil` if the inbox is closed and rejected the command.
    func post(_ command: EventLoop.Command) -> Bool? {
        let isTaken = state.withLock { state in
            if !state.isClosed { state.commands.append(command) }
            return !state.isClosed
        }
        return isTaken ? isSleeping.exchange(false, ordering: .sequentiallyConsistent) : nil
    }

    // MARK: the loop's thread

    /// Exchanges the commands for an empty list.
    func take(_ commands: inout [EventLoop.Command]) {
        state.withLock { swap(&$0.commands, &commands) }
    }

    /// Notes that the loop is about to sleep, and returns whether there are commands to process first.
    func willSleep() -> Bool {
        isSleeping.store(true, ordering: .sequentiallyConsistent)
        return state.withLock { !$0.commands.isEmpty }
    }

    /// Notes that the loop no longer sleeps.
    func didWake() {
        isSleeping.store(false, ordering: .relaxed)
    }

    /// Rejects further commands, and returns those that are left.
    func close() -> [EventLoop.Command] {
        state.withLock { state in
            state.isClosed = true
            defer { state.commands = [] }
            return state.commands
        }
    }
}
