import BeagleNetHTTP

/// Who waits for what comes of an operation.
protocol ResultListener: AnyObject, Sendable {
    /// Whether nobody waits any more.
    var isOver: Bool { get }
    func hear(_ result: OperationResult)
    func end()
}

/// An operation that somebody waits for, and who does. Reached only in turns of the client's lane.
final class Source {
    private enum Event {
        case result(OperationResult)
        case end
    }

    /// What is asked, as it was said last.
    var operation: Operation
    /// The last result of a query, which is shown as stale when the query is run again.
    var last: OperationResult?
    /// How many results came.
    var count = 0
    var listeners: [any ResultListener]
    /// No other has it.
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

    /// Tells everybody, each event after the one before: who hears one may cause another.
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
