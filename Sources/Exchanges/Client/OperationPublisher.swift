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
    func addSubscriber(_ subscriber: any ResultSubscriber, _ operation: Operation)
    /// Removes a subscriber.
    func removeSubscriber(_ subscriber: any ResultSubscriber, _ operation: Operation)
}

/// A publisher of the results of an operation.
struct OperationPublisher: Publisher {
    typealias Output = OperationResult
    typealias Failure = Never

    let client: any OperationHost
    let operation: Operation

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == OperationResult, Downstream.Failure == Never {
        subscriber.receive(subscription: ResultSubscription(AnySubscriber(subscriber), client, operation))
    }

    /// The maximum number of buffered results for a subscriber without demand. After that, the oldest are dropped.
    static var limit: Int { 4_096 }

    private final class ResultSubscription: Subscription, ResultSubscriber, Sendable {
        private enum State: Sendable {
            case idle, started, finished
        }

        private let buffer: DemandBuffer<AnySubscriber<OperationResult, Never>>
        private let state = InlineLock(State.idle)
        private let client: any OperationHost
        private let operation: Operation
        private let hasDropped = Atomic(false)

        init(_ subscriber: AnySubscriber<OperationResult, Never>, _ client: any OperationHost, _ operation: Operation) {
            buffer = DemandBuffer(to: subscriber, limit: OperationPublisher.limit)
            self.client = client
            self.operation = operation
        }

        /// Starts the operation on the first demand, because a result that arrives synchronously needs a subscriber
        /// with demand.
        func request(_ demand: Subscribers.Demand) {
            guard demand > .none else { return }
            buffer.request(demand)
            let isFirst = state.withLock { state in
                guard state == .idle else { return false }
                state = .started
                return true
            }
            if isFirst { client.addSubscriber(self, operation) }
        }

        func cancel() {
            buffer.cancel()
            let hasStarted = state.withLock { state in
                defer { state = .finished }
                return state == .started
            }
            if hasStarted { client.removeSubscriber(self, operation) }
        }

        var isFinished: Bool { state.withLock { $0 == .finished } }

        func receive(_ result: OperationResult) {
            guard buffer.send(result), !hasDropped.exchange(true, ordering: .relaxed) else { return }
            let text = "is too slow: its oldest results beyond \(OperationPublisher.limit) are dropped"
            client.logger.log(ExchangeLog("a subscriber of \(operation.kind) \(operation.id) \(text)", .error))
        }

        func finish() {
            state.withLock { $0 = .finished }
            buffer.finish(.finished)
        }
    }
}
