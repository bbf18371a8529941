import BeagleNetHTTP

/// A gate through which the operations of a queue are written in the order in which they arrived, however long each
/// takes to prepare.
final class OutboxWriteQueue: Sendable {
    private struct Waiter: Sendable {
        let number: Int
        let signal: AsyncStream<Void>.Continuation
    }

    private struct State: Sendable {
        var lastNumber = 0
        var queues: [String: [Waiter]] = [:]
    }

    private let state = Lock(State())

    /// Returns a place behind all earlier ones.
    func enter(_ queue: String) -> Ticket {
        let (turns, signal) = AsyncStream.makeStream(of: Void.self)
        let (number, isFirst) = state.withLock { state in
            state.lastNumber += 1
            state.queues[queue, default: []].append(Waiter(number: state.lastNumber, signal: signal))
            return (state.lastNumber, state.queues[queue]?.count == 1)
        }
        if isFirst { signal.finish() }
        return Ticket(line: self, queue: queue, number: number, turns: turns)
    }

    private func leave(_ queue: String, _ number: Int) {
        let first: Waiter? = state.withLock { state in
            guard let index = state.queues[queue]?.firstIndex(where: { $0.number == number }) else { return nil }
            state.queues[queue]?.remove(at: index)
            guard let first = state.queues[queue]?.first else {
                state.queues[queue] = nil
                return nil
            }
            return index == 0 ? first : nil
        }
        first?.signal.finish()
    }

    /// A place in the line.
    ///
    /// The holder must leave it.
    struct Ticket: Sendable {
        fileprivate let line: OutboxWriteQueue
        fileprivate let queue: String
        fileprivate let number: Int
        fileprivate let turns: AsyncStream<Void>

        /// Waits until all earlier places have been left.
        ///
        /// Cancelling the task ends the wait.
        func wait() async {
            for await _ in turns {}
        }

        /// Leaves the place, so that the next one's turn comes.
        ///
        /// Later calls do nothing.
        func leave() {
            line.leave(queue, number)
        }
    }
}
