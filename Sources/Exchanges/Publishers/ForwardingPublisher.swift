import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// The base of this package's exchanges: a closure sees each operation once and forwards it, answers it, does both, or
/// neither.
struct ForwardingPublisher: Publisher {
    typealias Output = OperationResult
    typealias Failure = Never

    /// The two directions from an exchange: down to the next exchanges and up to the caller.
    struct Outputs: Sendable {
        fileprivate let down: SharedStream<Operation>
        fileprivate let up: @Sendable (OperationResult) -> Void

        /// Sends an operation down. Calls must not overlap unless the publisher has a serial queue.
        func forward(_ operation: Operation) { down.send(operation) }

        /// Sends a result up. May be called from any thread.
        func answer(_ result: OperationResult) { up(result) }
    }

    let operations: AnyPublisher<Operation, Never>
    let down: SharedStream<Operation>
    let below: AnyPublisher<OperationResult, Never>
    let onOperation: (Operation, Outputs) -> Void
    let onResult: ((OperationResult) -> OperationResult?)?
    let onEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - operations: The operations from above.
    ///   - next: The rest of the chain.
    ///   - onResult: Maps each result from below, or drops it by returning `nil`. By default results pass unchanged.
    ///   - onEnd: Called when the subscriber cancels.
    ///   - queue: The serial queue on which operations are sent down. Needed if several threads send operations.
    ///   - onOperation: Handles each operation.
    init(
        _ operations: AnyPublisher<Operation, Never>,
        _ next: ExchangeIO,
        onResult: ((OperationResult) -> OperationResult?)? = nil,
        onEnd: @escaping @Sendable () -> Void = {},
        in queue: SerialQueue? = nil,
        onOperation: @escaping (Operation, Outputs) -> Void
    ) {
        self.operations = operations
        down = SharedStream(in: queue)
        below = next(down.publisher)
        self.onOperation = onOperation
        self.onResult = onResult
        self.onEnd = onEnd
    }

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == OperationResult, Downstream.Failure == Never {
        // Erased, so that the code below is compiled for one type of subscriber.
        begin(AnySubscriber(subscriber))
    }

    private func begin(_ subscriber: AnySubscriber<OperationResult, Never>) {
        let buffer = DemandBuffer(to: subscriber)
        let subscriptions = SubscriptionSet(onEnd)
        subscriber.receive(subscription: ForwardingSubscription(buffer: buffer, subscriptions: subscriptions))
        let outputs = Outputs(down: down) { buffer.send($0) }
        // Results first: the exchanges below must be connected before operations arrive.
        below.sink(subscriptions) { [onResult] result in
            guard let onResult else {
                buffer.send(result)
                return
            }
            if let result = onResult(result) { buffer.send(result) }
        }
        operations.sink(subscriptions, onEnd: { outputs.down.finish() }) { [onOperation] in onOperation($0, outputs) }
    }

    private struct ForwardingSubscription: Subscription {
        let combineIdentifier = CombineIdentifier()
        let buffer: DemandBuffer<AnySubscriber<OperationResult, Never>>
        let subscriptions: SubscriptionSet

        func request(_ demand: Subscribers.Demand) { buffer.request(demand) }

        func cancel() {
            buffer.cancel()
            subscriptions.cancel()
        }
    }
}

/// A set of subscriptions that stay active until they are cancelled.
final class SubscriptionSet: Sendable {
    /// `nil` after cancellation.
    private let subscriptions = Lock<[SendableSubscription]?>([])
    private let onEnd: @Sendable () -> Void

    /// - Parameter onEnd: Called once, on the first cancellation.
    init(_ onEnd: @escaping @Sendable () -> Void = {}) {
        self.onEnd = onEnd
    }

    func store(_ subscription: SendableSubscription) {
        let isFinished = subscriptions.withLock { subscriptions in
            subscriptions?.append(subscription)
            return subscriptions == nil
        }
        if isFinished { subscription.cancel() } else { subscription.request(.unlimited) }
    }

    func cancel() {
        guard let stored = subscriptions.withLock({ $0.take() }) else { return }
        for subscription in stored { subscription.cancel() }
        onEnd()
    }
}

extension AnyPublisher where Failure == Never {
    /// Passes all values to a closure until the subscriptions are cancelled.
    func sink(
        _ subscriptions: SubscriptionSet,
        onEnd: @escaping () -> Void = {},
        onValue: @escaping (Output) -> Void
    ) {
        subscribe(
            AnySubscriber<Output, Never>(
                receiveSubscription: { subscriptions.store(SendableSubscription($0)) },
                receiveValue: { value in
                    onValue(value)
                    return .none
                },
                receiveCompletion: { _ in onEnd() }
            )
        )
    }
}
