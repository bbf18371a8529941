import BeagleNetHTTP

/// A gate through which the operations of a queue are written in the order in which they arrived, however long each
/// takes to prepare.
final class OutboxWriteQueue: Sendable {
    /// The turns of the places in each queue, in order.
    private let queues = Lock<[String: [Promise<Void>]]>([:])

    /// Returns a place behind all earlier ones.
    func enter(_ queue: String) -> Ticket {
        let turn = Promise<Void>()
        let first = queues.withLock { queues in
            queues[queue, default: []].append(turn)
            return queues[queue]?.first
        }
        first?.complete()
        return Ticket(line: self, queue: queue, turn: turn)
    }

    private func leave(_ queue: String, _ turn: Promise<Void>) {
        let first = queues.withLock { queues in
            queues[queue]?.removeAll { $0 === turn }
            if queues[queue]?.isEmpty == true { queues[queue] = nil }
            return queues[queue]?.first
        }
        first?.complete()
    }

    /// A place in the line.
    ///
    /// The holder must leave it.
    struct Ticket: Sendable {
        fileprivate let line: OutboxWriteQueue
        fileprivate let queue: String
        fileprivate let turn: Promise<Void>

        /// Waits until all earlier places have been left.
        ///
        /// Cancelling the task ends the wait.
        func wait() async {
            await turn.valueUnlessCancelled()
        }

        /// Leaves the place, so that the next one's turn comes.
        ///
        /// Later calls do nothing.
        func leave() {
            line.leave(queue, turn)
        }
    }
}
