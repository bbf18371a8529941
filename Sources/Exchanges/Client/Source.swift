import BeagleNetHTTP

/// A subscriber of an operation's results.
protocol ResultListener: AnyObject, Sendable {
    /// Whether the subscriber has cancelled or finished.
    var isOver: Bool { get }
    func hear(_ result: OperationResult)
    func end()
}

/// An active operation and its subscribers. Accessed only on the client's serial queue.
final class Source {
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
    var listeners: [any ResultListener]
    /// A unique number.
    let number: Int
    private var events: [Event] = []
    private var isDelivering = false

    init(_ operation: Operation, for listener: any ResultListener, number: Int) {
        self.number = number
        self.operation = operation
        listeners = [listener]
    }

    func deliver(_ result: OperationResult) { deliver(.result(result)) }

    func end() { deliver(.end) }

    /// Delivers an event to all subscribers. Events that a subscriber causes in the meantime are delivered afterwards.
    private func deliver(_ event: Event) {
        events.append(event)
        if isDelivering { return }
        isDelivering = true
        var index = 0
        while index < events.count {
            for listener in listeners {
                switch events[index] {
                case .result(let result): listener.hear(result)
                case .end: listener.end()
                }
            }
            index += 1
        }
        events.removeAll(keepingCapacity: true)
        isDelivering = false
    }
}
