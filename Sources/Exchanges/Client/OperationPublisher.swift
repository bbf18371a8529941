import BeagleNetDependencies
import BeagleNetHTTP
import Synchronization
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// A type that runs operations for subscribers.
protocol OperationHost: AnyObject, Sendable {
    /// The logger.
    var logger: any BeagleLogger { get }
    /// Adds a subscriber to an operation, and runs it.
    func join(_ listener: any ResultListener, _ operation: Operation)
    /// Removes a subscriber.
    func leave(_ listener: any ResultListener, _ operation: Operation)
}

/// A publisher of the results of an operation.
struct OperationPublisher: Publisher {
    typealias Output = OperationResult
    typealias Failure = Never

    let client: any OperationHost
    let operation: Operation

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == OperationResult, Downstream.Failure == Never {
        subscriber.receive(subscription: Listener(AnySubscriber(subscriber), client, operation))
    }

    /// The maximum number of buffered results for a subscriber without demand. After that, the oldest are dropped.
    static var limit: Int { 4_096 }

    private final class Listener: Subscription, ResultListener, Sendable {
        private enum State: Sendable {
            case fresh, begun, over
        }

        private let delivery: Delivery<AnySubscriber<OperationResult, Never>>
        private let state = InlineLock(State.fresh)
        private let client: any OperationHost
        private let operation: Operation
        private let isBehind = Atomic(false)

        init(_ subscriber: AnySubscriber<OperationResult, Never>, _ client: any OperationHost, _ operation: Operation) {
            delivery = Delivery(to: subscriber, limit: OperationPublisher.limit)
            self.client = client
            self.operation = operation
        }

        /// Starts the operation on the first demand, because a result that arrives synchronously needs a subscriber
        /// with demand.
        func request(_ demand: Subscribers.Demand) {
            guard demand > .none else { return }
            delivery.request(demand)
            let isFirst = state.withLock { state in
                guard state == .fresh else { return false }
                state = .begun
                return true
            }
            if isFirst { client.join(self, operation) }
        }

        func cancel() {
            delivery.cancel()
            let hasBegun = state.withLock { state in
                defer { state = .over }
                return state == .begun
            }
            if hasBegun { client.leave(self, operation) }
        }

        var isOver: Bool { state.withLock { $0 == .over } }

        func hear(_ result: OperationResult) {
            guard delivery.send(result), !isBehind.exchange(true, ordering: .relaxed) else { return }
            let text = "is too slow: its oldest results beyond \(OperationPublisher.limit) are dropped"
            client.logger.log(ExchangeLog("a subscriber of \(operation.kind) \(operation.id) \(text)", .error))
        }

        func end() {
            state.withLock { $0 = .over }
            delivery.finish(.finished)
        }
    }
}
