import BeagleNetExchanges
import BeagleNetHTTP

import struct BeagleNetExchanges.Operation

/// A server as the last exchange. It records operations and sends results synchronously or when the test says so.
final class ServerExchange: Exchange, Sendable {
    private let log = Lock<[Operation]>([])
    // Any thread may send to a subject.
    nonisolated(unsafe) private let later = PassthroughSubject<OperationResult, Never>()
    private let answer: @Sendable (Operation) -> [OperationResult]

    init(_ answer: @escaping @Sendable (Operation) -> [OperationResult] = { _ in [] }) {
        self.answer = answer
    }

    /// All received operations.
    var operations: [Operation] { log.withLock { $0 } }
    /// The kinds of the operations.
    var kinds: [Operation.Kind] { operations.map(\.kind) }
    /// The operations that are not teardowns.
    var requested: [Operation] { operations.filter { $0.kind != .teardown } }

    func send(_ result: OperationResult) { later.send(result) }

    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        operations
            .handleEvents(receiveOutput: { [self] operation in log.withLock { $0.append(operation) } })
            .flatMap { [answer] operation in
                (operation.kind == .teardown ? [] : answer(operation)).publisher
            }
            .merge(with: later)
            .eraseToAnyPublisher()
    }
}

/// Sends operations to another host.
struct MovingExchange: Exchange {
    func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        let moved = operations.map { operation in
            var operation = operation
            operation.request.url = URL(string: "http://elsewhere/graphql")
            return operation
        }
        return next(moved.eraseToAnyPublisher())
    }
}

/// Collects results.
final class ResultCollector: Sendable {
    private let received = Lock<(results: [OperationResult], isOver: Bool)>(([], false))
    // Set once, before another thread has access.
    nonisolated(unsafe) private var subscription: AnyCancellable?

    init(_ publisher: AnyPublisher<OperationResult, Never>, _ onResult: @escaping (OperationResult) -> Void = { _ in })
    {
        subscription = publisher.sink(
            receiveCompletion: { [received] _ in received.withLock { $0.isOver = true } },
            receiveValue: { [received] result in
                received.withLock { $0.results.append(result) }
                onResult(result)
            }
        )
    }

    var results: [OperationResult] { received.withLock { $0.results } }
    /// The data of each result as text.
    var texts: [String] {
        results.map { result in
            (result.data.string ?? result.data.integer.map(String.init) ?? "nil")
                + (result.stale == true ? " stale" : "")
        }
    }
    var isOver: Bool { received.withLock { $0.isOver } }

    func leave() { subscription?.cancel() }
}
