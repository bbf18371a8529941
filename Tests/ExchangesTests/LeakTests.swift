import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetExchanges
import struct BeagleNetExchanges.Operation

/// Nothing remains of many operations that completed, failed, were cancelled, torn down or reexecuted.
@Suite(.timeLimit(.minutes(5))) struct LeakTests {
    /// Our exchanges and the state that each of them keeps for operations in flight.
    private struct ExchangeState: Sendable {
        let dedup = Lock(DedupExchange.Active())
        let cache = CacheExchange(limit: 20)
        let intercepted = InterceptedOperations()
        let runs = OperationRuns()
        let fetches = OperationRuns()
        let sockets = OperationRuns()

        /// The number of entries for operations in flight. Stored results don't count.
        var count: Int {
            dedup.withLock { $0.ids.count + $0.cacheOnlyCounts.count } + runs.count + intercepted.count + fetches.count
                + sockets.count
        }

        /// Deduplication, cache and an interceptor that passes everything on.
        var exchanges: [any Exchange] {
            [
                RegisteringExchange { [dedup] _, operations, next in
                    DedupExchange().register(operations: operations, next: next, active: dedup)
                },
                cache,
                RegisteringExchange { [runs, intercepted] client, operations, next in
                    InterceptorExchange(TransformInterceptor { _ in }).register(
                        client: client,
                        operations: operations,
                        next: next,
                        runs: runs,
                        intercepted: intercepted
                    )
                },
            ]
        }

        /// Waits until nothing is in flight and checks that the store keeps only results, and nothing after it is cleared.
        func expectNothing() async {
            while count > 0 { await Task.yield() }
            // Two types, the use records of twice the maximum number of results, and some more.
            let bookkeeping = cache.store.withLock { $0.recordCount }
            #expect(bookkeeping <= 58)
            cache.clear()
            #expect(cache.count == 0)
            #expect(cache.store.withLock { $0.recordCount } == 0)
        }
    }

    /// An exchange with a closure for `register`.
    private struct RegisteringExchange: Exchange {
        let body:
            (any GraphQLClient, AnyPublisher<Operation, Never>, @escaping ExchangeIO)
                -> AnyPublisher<OperationResult, Never>

        func register(
            client: any GraphQLClient,
            operations: AnyPublisher<Operation, Never>,
            next: @escaping ExchangeIO
        ) -> AnyPublisher<OperationResult, Never> {
            body(client, operations, next)
        }
    }

    /// Reexecutes every third query when its result arrives and runs an additional mutation with every fifth.
    private final class Busy: Exchange, Sendable {
        private let kept = Lock<(count: Int, held: [Holding])>((0, []))

        /// Retains a subscription.
        private struct Holding: @unchecked Sendable {
            // Nothing else cancels it, and it is never read.
            let subscription: AnyCancellable
        }

        func register(
            client: any GraphQLClient,
            operations: AnyPublisher<Operation, Never>,
            next: @escaping ExchangeIO
        ) -> AnyPublisher<OperationResult, Never> {
            next(operations).map { [self] result in
                guard result.operation.kind == .query, result.operation.policy == .cacheFirst else { return result }
                let count = kept.withLock { kept in
                    kept.count += 1
                    return kept.count
                }
                if count % 5 == 0 { run(beside: result.operation, client) }
                guard count % 3 == 0 else { return result }
                var result = result
                result.stale = true
                client.reexecute(operation: result.operation.with(policy: .networkOnly))
                return result
            }
            .eraseToAnyPublisher()
        }

        private func run(beside operation: Operation, _ client: any GraphQLClient) {
            var own = Operation.mutation("own")
            own.request = operation.request
            let holding = Holding(subscription: client.execute(operation: own).sink { _ in })
            kept.withLock { $0.held.append(holding) }
        }
    }

    @Test func hostedExchangesRetainNothing() async throws {
        let kept = ExchangeState()
        let below = HeldPipeline { operation, number in
            switch number % 7 {
            case 0: .init(NetworkResponse(text: #"{"errors":[{"message":"no"}]}"#))
            case 1, 2: nil
            default: .init(NetworkResponse(text: #"{"data":{"a":{"__typename":"A"}}}"#))
            }
        }
        let fixture = try HostedFixture([Busy()] + kept.exchanges, below: below)
        for number in 0..<300 {
            let policies = Operation.Policy.allCases
            let query = Operation.query("q\(number % 50)", policies[number % 4])
            switch number % 6 {
            case 0..<3: await fixture.ask(query)
            case 3: await fixture.ask(.mutation("m\(number)"))
            case 4: await fixture.ask(.subscription("s\(number)"))
            default: await fixture.leave(query)
            }
            guard let held = below.held.first, number % 4 == 0 else { continue }
            if number % 8 == 0 {
                below.end(
                    held,
                    Operation.query().result(nil, error: .unknown(NetworkError(.network, during: .body, "")))
                )
            } else {
                held.emit(Operation.query().result(["a": 1], stale: true))
                below.end(held, Operation.query().result(["a": 2]))
            }
        }
        await fixture.end()
        // Operations that an exchange runs itself continue until they have a result.
        while await fixture.count > 0 || kept.count > 0 {
            for held in below.held { below.end(held, Operation.mutation().result(["a": 3])) }
            await Task.yield()
        }
        #expect(below.held.isEmpty)
        await kept.expectNothing()
    }

    @Test func clientRetainsNothing() async throws {
        let kept = ExchangeState()
        let (requests, sockets) = (Lock(0), Lock(0))
        /// Returns the number of this call.
        @Sendable func number(_ count: Lock<Int>) -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
        let network = StubClient { request in
            switch number(requests) % 4 {
            case 0: throw NetworkError(.network, during: .body, "lost")
            case 1: return try NetworkResponse(json: ["errors": [["message": "no"]]])
            default: return try NetworkResponse(json: ["data": ["a": ["__typename": "A"]]])
            }
        }
        let socket = WebSocketExchange { operation, _, emit in
            for number in 0..<3 { emit(operation.result(.integer(Int64(number)))) }
            if number(sockets) % 2 == 0 { throw NetworkError(.network, during: .body, "lost") }
        }
        let (fetchRuns, socketRuns) = (kept.fetches, kept.sockets)
        let client = Client(
            request: URLRequest(url: try #require(URL(string: "http://host/graphql"))),
            exchanges: [Busy()] + kept.exchanges + [
                RegisteringExchange { client, operations, next in
                    socket.register(client: client, operations: operations, next: next, runs: socketRuns)
                },
                RegisteringExchange { client, operations, next in
                    FetchExchange(client: network)
                        .register(client: client, operations: operations, next: next, runs: fetchRuns)
                },
            ],
            logger: OffLogger()
        )
        var ears: [ResultCollector] = []
        for number in 0..<300 {
            let variables: [String: AnyCodable] = ["n": .integer(Int64(number % 50))]
            let policy = Operation.Policy.allCases[number % 4]
            switch number % 6 {
            case 0..<3:
                ears.append(
                    ResultCollector(client.query(ExecutionArgs(query: "{ a }", variables: variables), policy: policy))
                )
            case 3: ears.append(ResultCollector(client.mutate(ExecutionArgs(query: "mutation { a }"))))
            case 4: ears.append(ResultCollector(client.subscribe(to: ExecutionArgs(query: "subscription { a }"))))
            default: ears.removeFirst().leave()
            }
            if number % 10 == 0 {
                let operation = ears.last?.results.last?.operation
                if let operation { client.reexecute(operation: number % 20 == 0 ? operation.teardown() : operation) }
            }
            if number % 7 == 0 {
                let task = Task { () async throws -> OperationResult in
                    try await client.query(ExecutionArgs(query: "{ b }"), policy: .networkOnly)
                }
                task.cancel()
                _ = await task.result
            }
        }
        for ear in ears { ear.leave() }
        while await client.kept > 0 { await Task.yield() }
        await kept.expectNothing()
    }
}

extension Client {
    /// The number of entries for waiting subscribers.
    fileprivate var kept: Int {
        get async {
            await withCheckedContinuation { continuation in
                queue.enqueue { continuation.resume(returning: self.count) }
            }
        }
    }
}
