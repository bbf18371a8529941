import BeagleNet
import BeagleNetHTTP

/// One run of a pipeline's operation through a hosted ladder: what is asked, who goes on with it, and who waits.
final class HostedRun: Sendable {
    typealias Outcome = Result<NetworkOperation.Result, NetworkError>
    typealias Emit = @Sendable (NetworkOperation.Result) -> Void

    /// What the task that waits is told.
    enum Event: Sendable {
        /// The ladder's bottom is reached: go on below, for those who wait in this row.
        case forward(Operation, row: HostedLadder.Row)
        /// It is over.
        case outcome(Outcome)
    }

    private struct Mailbox: Sendable {
        /// The first in the room of its own, as there is mostly one.
        var first: Event?
        var rest: [Event] = []
        var waiting: CheckedContinuation<Event, Never>?
        var isOver = false
        var row: Int?
        var ways: Ways?

        mutating func pop() -> Event? {
            defer { first = rest.isEmpty ? nil : rest.removeFirst() }
            return first
        }
    }

    /// The ways on and back. A run that is over has none: a cache may keep it, in the very pipeline that they are of.
    struct Ways: Sendable {
        let next: Pipeline.Next
        let emit: Emit
    }

    let operation: NetworkOperation
    private let mailbox: InlineLock<Mailbox>

    init(_ operation: NetworkOperation, next: Pipeline.Next, emit: @escaping Emit) {
        self.operation = operation
        mailbox = InlineLock(Mailbox(ways: Ways(next: next, emit: emit)))
    }

    /// nil when it is over.
    var ways: Ways? { mailbox.withLock { $0.ways } }

    /// The number of the row that it waits in.
    var row: Int? {
        get { mailbox.withLock { $0.row } }
        set { mailbox.withLock { $0.row = newValue } }
    }

    /// Tells the task that waits. After the outcome nothing more is told.
    func tell(_ event: Event) {
        let waiting = mailbox.withLock { mailbox -> CheckedContinuation<Event, Never>? in
            if mailbox.isOver { return nil }
            if case .outcome = event {
                mailbox.isOver = true
                mailbox.ways = nil
            }
            if let waiting = mailbox.waiting.take() { return waiting }
            if mailbox.first == nil { mailbox.first = event } else { mailbox.rest.append(event) }
            return nil
        }
        waiting?.resume(returning: event)
    }

    /// What comes next; waits for it.
    nonisolated(nonsending) func event() async -> Event {
        if let event = mailbox.withLock({ $0.pop() }) { return event }
        return await withCheckedContinuation { continuation in
            let event = mailbox.withLock { mailbox -> Event? in
                if let event = mailbox.pop() { return event }
                mailbox.waiting = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }
}
