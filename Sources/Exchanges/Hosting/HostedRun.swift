import BeagleNet
import BeagleNetHTTP

/// A run of a pipeline operation through a hosted exchange chain.
final class HostedRun: Sendable {
    typealias Outcome = Result<NetworkOperation.Result, NetworkError>
    typealias Emit = @Sendable (NetworkOperation.Result) -> Void

    /// An event for the task that waits for the run.
    enum Event: Sendable {
        /// The operation has reached the bottom of the chain.
        ///
        /// Run the rest of the pipeline for this group.
        case forward(Operation, group: HostedExchangeChain.RunGroup)
        /// The run is over.
        case outcome(Outcome)
    }

    private struct Mailbox: Sendable {
        /// The first event, stored inline because there is usually only one.
        var first: Event?
        var rest: [Event] = []
        /// The next event for the waiting task.
        var next: Promise<Event>?
        var isFinished = false
        var groupNumber: Int?
        var outputs: Outputs?

        mutating func pop() -> Event? {
            defer { first = rest.isEmpty ? nil : rest.removeFirst() }
            return first
        }
    }

    /// The rest of the pipeline and the closure that emits results.
    ///
    /// They are released when the run is over. A cache in the same pipeline may keep the run, which would otherwise be
    /// a retain cycle.
    struct Outputs: Sendable {
        let next: Pipeline.Next
        let emit: Emit
    }

    let operation: NetworkOperation
    private let mailbox: InlineLock<Mailbox>

    init(_ operation: NetworkOperation, next: Pipeline.Next, emit: @escaping Emit) {
        self.operation = operation
        mailbox = InlineLock(Mailbox(outputs: Outputs(next: next, emit: emit)))
    }

    /// `nil` when the run is over.
    var outputs: Outputs? { mailbox.withLock { $0.outputs } }

    /// The number of the group that the run belongs to.
    var groupNumber: Int? {
        get { mailbox.withLock { $0.groupNumber } }
        set { mailbox.withLock { $0.groupNumber = newValue } }
    }

    /// Sends an event to the waiting task. Events after the outcome are ignored.
    ///
    /// - Returns: Whether the event wasn't ignored.
    @discardableResult
    func send(_ event: Event) -> Bool {
        let (isSent, next) = mailbox.withLock { mailbox -> (Bool, Promise<Event>?) in
            if mailbox.isFinished { return (false, nil) }
            if case .outcome = event {
                mailbox.isFinished = true
                mailbox.outputs = nil
            }
            if let next = mailbox.next.take() { return (true, next) }
            if mailbox.first == nil { mailbox.first = event } else { mailbox.rest.append(event) }
            return (true, nil)
        }
        next?.complete(event)
        return isSent
    }

    /// Waits for the next event.
    nonisolated(nonsending) func nextEvent() async -> Event {
        let next: Promise<Event> = mailbox.withLock { mailbox in
            if let event = mailbox.pop() { return Promise(event) }
            let next = Promise<Event>()
            mailbox.next = next
            return next
        }
        return await next.value
    }
}
