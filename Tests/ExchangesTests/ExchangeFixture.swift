import BeagleNetExchanges
import BeagleNetHTTP
import Foundation

import struct BeagleNetExchanges.Operation

/// A client that only records its calls.
final class CallRecordingClient: GraphQLClient {
    let request = URLRequest(url: URL(filePath: "/graphql"))
    let logger: any BeagleLogger
    private let noted = Lock<[Operation]>([])
    let onReexecute: @Sendable (Operation) -> Void

    init(logger: any BeagleLogger = OffLogger(), onReexecute: @escaping @Sendable (Operation) -> Void = { _ in }) {
        self.logger = logger
        self.onReexecute = onReexecute
    }

    var reexecuted: [Operation] { noted.withLock { $0 } }

    func execute(operation: Operation) -> AnyPublisher<OperationResult, Never> { Empty().eraseToAnyPublisher() }

    func reexecute(operation: Operation) {
        noted.withLock { $0.append(operation) }
        onReexecute(operation)
    }
}

/// One exchange between two ends that the test controls.
final class ExchangeFixture: ExchangeChainFixture {
    // Any thread may send to a subject. The subscription is set once, before another thread has access to the fixture.
    nonisolated(unsafe) let operations = PassthroughSubject<Operation, Never>()
    nonisolated(unsafe) let below = PassthroughSubject<OperationResult, Never>()
    nonisolated(unsafe) private var subscription: AnyCancellable?
    let log: ExchangeEventLog

    /// - Parameters:
    ///   - client: The client of the exchange, or `nil` for a client that records reexecuted operations in `events`.
    ///   - answer: Returns the synchronous result from below.
    init(
        _ exchange: any Exchange,
        _ client: (any GraphQLClient)? = nil,
        log: ExchangeEventLog = ExchangeEventLog(),
        answer: @escaping (Operation) -> OperationResult? = { _ in nil }
    ) {
        self.log = log
        let client = client ?? CallRecordingClient { log.note(again: $0) }
        let results = exchange.register(client: client, operations: operations.eraseToAnyPublisher()) {
            [self] operations in
            operations
                .handleEvents(receiveOutput: { log.note(forwarded: $0) })
                .compactMap(answer)
                .merge(with: below)
                .eraseToAnyPublisher()
        }
        subscription = results.sink { log.note(result: $0) }
    }

    var forwarded: [Operation] { log.forwarded }

    func end() { subscription?.cancel() }

    func ask(_ operation: Operation) { operations.send(operation) }

    func answer(_ result: OperationResult) { below.send(result) }

    func leave(_ operation: Operation) { operations.send(operation.teardown()) }
}

extension Operation {
    private static let request = URLRequest(url: URL(filePath: "/graphql"))

    static func query(_ id: String = "q", _ policy: Policy = .cacheFirst, types: [String] = ["A", "B", "C"])
        -> Operation
    {
        Operation(
            id: id,
            kind: .query,
            request: request,
            policy: policy,
            types: types,
            args: ExecutionArgs(query: "{ hello }")
        )
    }

    static func mutation(_ id: String = "m", _ policy: Policy = .cacheFirst, types: [String] = ["A", "B"]) -> Operation
    {
        Operation(
            id: id,
            kind: .mutation,
            request: request,
            policy: policy,
            types: types,
            args: ExecutionArgs(query: "mutation { change }")
        )
    }

    static func subscription(_ id: String = "s") -> Operation {
        Operation(
            id: id,
            kind: .subscription,
            request: request,
            args: ExecutionArgs(query: "subscription { count }")
        )
    }

    func teardown() -> Operation { with(kind: .teardown) }

    func result(_ data: AnyCodable, error: CombinedError? = nil, stale: Bool? = false) -> OperationResult {
        OperationResult(operation: self, data: data, error: error, stale: stale)
    }
}
