import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetExchanges
import struct BeagleNetExchanges.Operation

/// After many operations that were answered, failed, were cancelled, torn down and run again, nothing is kept of them.
@Suite(.timeLimit(.minutes(1))) struct LeakTests {
    /// Exchanges of ours, and what each of them keeps for operations that are under way.
    private struct Kept: Sendable {
        let dedup = Lock(DedupExchange.Active())
        let cache = CacheExchange(limit: 20)
        let crossings = Crossings()
        let runs = OperationRuns()
        let fetches = OperationRuns()
        let sockets = OperationRuns()

        /// What operations are to leave: the store's results.
        var count: Int {
            dedup.withLock { $0.ids.count + $0.readings.count } + runs.count + crossings.count + fetches.count
                + sockets.count
        }

        /// Dedup, cache and an interceptor that hands everything on.
        var exchanges: [any Exchange] {
            [
                Watched { [dedup] _, operations, next in
                    DedupExchange().register(operations: operations, next: next, active: dedup)
                },
                cache,
                Watched { [runs, crossings] client, operations, next in
                    InterceptorExchange(TransformInterceptor { _ in }).register(
                        client: client,
                        operations: operations,
                        next: next,
                        runs: runs,
                        crossings: crossings
                    )
                },
            ]
        }

        /// Waits until nothing is under way, and checks that the store keeps nothing else than results, and nothing when it
        /// is cleared.
        func expectNothing() async {
            while count > 0 { await Task.yield() }
            // Two types, and uses of twice as many results as may be stored, and some.
            let bookkeeping = cache.store.withLock { $0.bookkeeping }
            #expect(bookkeeping <= 58)
            cache.clear()
            #expect(cache.count == 0)
            #expect(cache.store.withLock { $0.bookkeeping } == 0)
        }
    }

    /// An exchange that is registered as a test wants it.
    private struct Watched: Exchange {
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

    /// Has each third query run again when it comes up, and runs a mutation of its own beside each fifth.
    private final class Busy: Exchange, Sendable {
        private let kept = Lock<(count: Int, held: [Holding])>((0, []))

        /// Only kept, and let go.
        private struct Holding: @unchecked Sendable {
            // Cancelled by nobody else, and never read.
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

    @Test func hostedLadderKeepsNothing() async throws {
        let kept = Kept()
        let below = Below { operation, number in
            switch number % 7 {
            case 0: .init(NetworkResponse(text: #"{"errors":[{"message":"no"}]}"#))
            case 1, 2: nil
            default: .init(NetworkResponse(text: #"{"data":{"a":{"__typename":"A"}}}"#))
            }
        }
        let world = try HostedWorld([Busy()] + kept.exchanges, below: below)
        for number in 0..<300 {
            let policies = Operation.Policy.allCases
            let query = Operation.query("q\(number % 50)", policies[number % 4])
            switch number % 6 {
            case 0..<3: await world.ask(query)
            case 3: await world.ask(.mutation("m\(number)"))
            case 4: await world.ask(.subscription("s\(number)"))
            default: await world.leave(query)
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
        await world.end()
        // What an exchange runs itself goes on until it is answered.
        while await world.count > 0 {
            for held in below.held { below.end(held, Operation.mutation().result(["a": 3])) }
            await Task.yield()
        }
        #expect(below.held.isEmpty)
        await kept.expectNothing()
    }

    @Test func clientKeepsNothing() async throws {
        let kept = Kept()
        let (requests, sockets) = (Lock(0), Lock(0))
        /// Which of all it is.
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
                Watched { client, operations, next in
                    socket.register(client: client, operations: operations, next: next, runs: socketRuns)
                },
                Watched { client, operations, next in
                    FetchExchange(client: network)
                        .register(client: client, operations: operations, next: next, runs: fetchRuns)
                },
            ],
            logger: OffLogger()
        )
        var ears: [Listening] = []
        for number in 0..<300 {
            let variables: [String: AnyCodable] = ["n": .integer(Int64(number % 50))]
            let policy = Operation.Policy.allCases[number % 4]
            switch number % 6 {
            case 0..<3:
                ears.append(
                    Listening(client.query(ExecutionArgs(query: "{ a }", variables: variables), policy: policy))
                )
            case 3: ears.append(Listening(client.mutate(ExecutionArgs(query: "mutation { a }"))))
            case 4: ears.append(Listening(client.subscribe(to: ExecutionArgs(query: "subscription { a }"))))
            default: ears.removeFirst().leave()
            }
            if number % 10 == 0 {
                let asked = ears.last?.results.last?.operation
                if let asked { client.reexecute(operation: number % 20 == 0 ? asked.teardown() : asked) }
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

extension HostedWorld {
    /// How much the ladder has under way.
    fileprivate var count: Int {
        get async {
            await withCheckedContinuation { continuation in
                ladder.lane.runLater { [ladder] in continuation.resume(returning: ladder.count) }
            }
        }
    }
}

extension Client {
    /// How much is kept for those who wait.
    fileprivate var kept: Int {
        get async {
            await withCheckedContinuation { continuation in
                lane.runLater { continuation.resume(returning: self.count) }
            }
        }
    }
}
