import BeagleNetHTTP
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// What an exchange of ours is: a place where each operation is decided on once, and sent on, answered, both, or neither.
struct Fork: Publisher {
    typealias Output = OperationResult
    typealias Failure = Never

    /// The two ways from here.
    struct Ways: Sendable {
        fileprivate let down: Rung<Operation>
        fileprivate let up: @Sendable (OperationResult) -> Void

        /// Sends an operation down: one after another, unless the fork has a lane.
        func forward(_ operation: Operation) { down.send(operation) }

        /// Sends a result up, from any thread.
        func answer(_ result: OperationResult) { up(result) }
    }

    let operations: AnyPublisher<Operation, Never>
    let down: Rung<Operation>
    let below: AnyPublisher<OperationResult, Never>
    let onOperation: (Operation, Ways) -> Void
    let onResult: ((OperationResult) -> OperationResult?)?
    let onEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - operations: what comes from above.
    ///   - next: the rest of the ladder.
    ///   - onResult: what becomes of results from below; they pass as they are where nil.
    ///   - onEnd: called when nobody listens any more.
    ///   - lane: where operations are sent on in turns, which is needed where that is done by several threads.
    ///   - onOperation: decides.
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
        // Of one type, whoever subscribes.
        begin(AnySubscriber(subscriber))
    }

    private func begin(_ subscriber: AnySubscriber<OperationResult, Never>) {
        let delivery = Delivery(to: subscriber)
        let standing = Standing(onEnd)
        subscriber.receive(subscription: Junction(delivery: delivery, standing: standing))
        let ways = Ways(down: down) { delivery.send($0) }
        // Below first: who is asked must be there.
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

/// What is listened to, until it is cancelled.
final class Standing: Sendable {
    /// nil after the end.
    private let lines = Lock<[Line]?>([])
    private let onEnd: @Sendable () -> Void

    /// - Parameter onEnd: called once, by whoever cancels first.
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
    /// Hears all that it gives, for as long as it stands.
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
