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

    /// The two ways from here. `@unchecked Sendable` is sound because both ends may be called by any thread.
    struct Ways: @unchecked Sendable {
        fileprivate let down: Rung<Operation>
        fileprivate let up: (OperationResult) -> Void

        /// Sends an operation down.
        func forward(_ operation: Operation) { down.send(operation) }

        /// Sends a result up.
        func answer(_ result: OperationResult) { up(result) }
    }

    let operations: AnyPublisher<Operation, Never>
    let down = Rung<Operation>(in: nil)
    let below: AnyPublisher<OperationResult, Never>
    let onOperation: (Operation, Ways) -> Void
    let onResult: ((OperationResult) -> OperationResult?)?
    let onEnd: () -> Void

    /// - Parameters:
    ///   - operations: what comes from above.
    ///   - next: the rest of the ladder.
    ///   - onResult: what becomes of results from below; they pass as they are where nil.
    ///   - onEnd: called when nobody listens any more.
    ///   - onOperation: decides.
    init(
        _ operations: AnyPublisher<Operation, Never>,
        _ next: ExchangeIO,
        onResult: ((OperationResult) -> OperationResult?)? = nil,
        onEnd: @escaping () -> Void = {},
        onOperation: @escaping (Operation, Ways) -> Void
    ) {
        self.operations = operations
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
            if let onResult { onResult(result).map(delivery.send) } else { delivery.send(result) }
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
///
/// `@unchecked Sendable` is sound because the list is behind a lock, and `onEnd` is called once, by whoever cancels.
final class Standing: @unchecked Sendable {
    /// `@unchecked Sendable` is sound because a subscription may be told what to do by any thread.
    private struct Lines: @unchecked Sendable {
        var held: [any Subscription]? = []
    }

    private let lines = Lock(Lines())
    private let onEnd: () -> Void

    init(_ onEnd: @escaping () -> Void = {}) {
        self.onEnd = onEnd
    }

    func hold(_ line: any Subscription) {
        let box = Lines(held: [line])
        let isOver = lines.withLock { lines in
            if lines.held == nil { return true }
            lines.held?.append(contentsOf: box.held ?? [])
            return false
        }
        if isOver { line.cancel() } else { line.request(.unlimited) }
    }

    func cancel() {
        let held = lines.withLock { lines in
            let held = Lines(held: lines.held)
            lines.held = nil
            return held
        }
        guard let held = held.held else { return }
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
                receiveSubscription: { standing.hold($0) },
                receiveValue: { value in
                    onValue(value)
                    return .none
                },
                receiveCompletion: { _ in onEnd() }
            )
        )
    }
}
