import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// The base of this package's exchanges: a closure sees each operation once and forwards it, answers it, does both, or
/// neither.
struct Fork: Publisher {
    typealias Output = OperationResult
    typealias Failure = Never

    /// The two directions from an exchange: down to the next exchanges and up to the caller.
    struct Ways: Sendable {
        fileprivate let down: Rung<Operation>
        fileprivate let up: @Sendable (OperationResult) -> Void

        /// Sends an operation down. Calls must not overlap unless the fork has a serial queue.
        func forward(_ operation: Operation) { down.send(operation) }

        /// Sends a result up. May be called from any thread.
        func answer(_ result: OperationResult) { up(result) }
    }

    let operations: AnyPublisher<Operation, Never>
    let down: Rung<Operation>
    let below: AnyPublisher<OperationResult, Never>
    let onOperation: (Operation, Ways) -> Void
    let onResult: ((OperationResult) -> OperationResult?)?
    let onEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - operations: The operations from above.
    ///   - next: The rest of the chain.
    ///   - onResult: Maps each result from below, or drops it by returning `nil`. By default results pass unchanged.
    ///   - onEnd: Called when the subscriber cancels.
    ///   - lane: The serial queue on which operations are sent down. Needed if several threads send operations.
    ///   - onOperation: Handles each operation.
    init(
        _ operations: AnyPublisher<Operation, Never>,
        _ next: ExchangeIO,
        onResult: ((OperationResult) -> OperationResult?)? = nil,
        onEnd: @escaping @Sendable () -> Void = {},
        in lane: Lane? = nil,
        onOperation: @escaping (Operation, Ways) -> Void
    ) {
        self.operations = operations
        down = Rung(in: lane)
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
        let delivery = Delivery(to: subscriber)
        let standing = Standing(onEnd)
        subscriber.receive(subscription: Junction(delivery: delivery, standing: standing))
        let ways = Ways(down: down) { delivery.send($0) }
        // Results first: the exchanges below must be connected before operations arrive.
        below.listen(standing) { [onResult] result in
            guard let onResult else {
                delivery.send(result)
                return
            }
            if let result = onResult(result) { delivery.send(result) }
        }
        operations.listen(standing, onEnd: { ways.down.finish() }) { [onOperation] in onOperation($0, ways) }
    }

    private struct Junction: Subscription {
        let combineIdentifier = CombineIdentifier()
        let delivery: Delivery<AnySubscriber<OperationResult, Never>>
        let standing: Standing

        func request(_ demand: Subscribers.Demand) { delivery.request(demand) }

        func cancel() {
            delivery.cancel()
            standing.cancel()
        }
    }
}

/// A set of subscriptions that stay active until they are cancelled.
final class Standing: Sendable {
    /// `nil` after cancellation.
    private let lines = Lock<[Line]?>([])
    private let onEnd: @Sendable () -> Void

    /// - Parameter onEnd: Called once, on the first cancellation.
    init(_ onEnd: @escaping @Sendable () -> Void = {}) {
        self.onEnd = onEnd
    }

    func hold(_ line: Line) {
        let isOver = lines.withLock { lines in
            lines?.append(line)
            return lines == nil
        }
        if isOver { line.cancel() } else { line.request(.unlimited) }
    }

    func cancel() {
        guard let held = lines.withLock({ $0.take() }) else { return }
        for line in held { line.cancel() }
        onEnd()
    }
}

extension AnyPublisher where Failure == Never {
    /// Passes all values to a closure until the subscriptions are cancelled.
    func listen(
        _ standing: Standing,
        onEnd: @escaping () -> Void = {},
        onValue: @escaping (Output) -> Void
    ) {
        subscribe(
            AnySubscriber<Output, Never>(
                receiveSubscription: { standing.hold(Line($0)) },
                receiveValue: { value in
                    onValue(value)
                    return .none
                },
                receiveCompletion: { _ in onEnd() }
            )
        )
    }
}
