import BeagleNetHTTP

/// A subscriber of an operation's results.
protocol ResultSubscriber: AnyObject, Sendable {
    /// Whether the subscriber has cancelled or finished.
    var isFinished: Bool { get }
    func receive(_ result: OperationResult)
    func finish()
}

/// An active operation and its subscribers. Accessed only on the client's serial queue.
final class ActiveOperation {
    private enum Event {
        case result(OperationResult)
        case end
    }

    /// The operation, as it was last sent.
    var operation: Operation
    /// The last result of a query, which is delivered as stale when the query runs again.
    var last: OperationResult?
    /// The number of results so far.
    var count = 0
    var subscribers: [any ResultSubscriber]
    /// A unique number.
    let number: Int
    private var events: [Event] = []
    private var isDelivering = false

    init(_ operation: Operation, for subscriber: any ResultSubscriber, number: Int) {
        self.number = number
        self.operation = operation
        subscribers = [subscriber]
    }

    func deliver(_ result: OperationResult) { deliver(.result(result)) }

    func finish() { deliver(.end) }

    /// Delivers an event to all subscribers. Events that a subscriber causes in the meantime are delivered afterwards.
    private func deliver(_ event: Event) {
        events.append(event)
        if isDelivering { return }
        isDelivering = true
        var index = 0
        while index < events.count {
            for subscriber in subscribers {
                switch events[index] {
                case .result(let result): subscriber.receive(result)
                case .end: subscriber.finish()
                }
            }
            index += 1
        }
        events.removeAll(keepingCapacity: true)
        isDelivering = false
    }
}
