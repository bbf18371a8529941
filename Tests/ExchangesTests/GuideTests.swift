import BeagleNetExchanges
import BeagleNetGraphQL
import Foundation
import Testing

import struct BeagleNetExchanges.Operation

/// The exchange from the guide that handles operations itself. Its source ends on its own.
@Suite(.timeLimit(.minutes(5)))
struct GuideTests {
    private struct ClockExchange: Exchange {
        let ticks: AnyPublisher<Int, Never>

        func register(
            client: any GraphQLClient,
            operations: AnyPublisher<Operation, Never>,
            next: @escaping ExchangeIO
        ) -> AnyPublisher<OperationResult, Never> {
            let shared = operations.share()
            let own = shared.filter { $0.kind == .subscription && $0.args.operationName == "Clock" }
            let rest = shared.filter { $0.kind != .subscription || $0.args.operationName != "Clock" }
            let results = own.flatMap { operation in
                ticks
                    .map { OperationResult(operation: operation, data: ["tick": AnyCodable($0)]) }
                    .handleEvents(receiveCompletion: { _ in
                        client.reexecute(operation: operation.with(kind: .teardown))
                    })
                    .takeUntil(shared.filter { $0.id == operation.id })
            }
            return next(rest.eraseToAnyPublisher()).merge(with: results).eraseToAnyPublisher()
        }
    }

    private let clock = ClockExchange(ticks: (1...3).publisher.eraseToAnyPublisher())
    private let query = "subscription Clock { tick }"

    @Test func endOfTheSourceCompletesSubscribersOfAClient() throws {
        let client = Client(request: URLRequest(url: try #require(URL(string: "http://host/"))), exchanges: [clock])
        let received = Lock<[String]>([])
        let line = client.subscribe(to: ExecutionArgs(query: query, operationName: "Clock"))
            .sink { _ in
                received.withLock { $0.append("end") }
            } receiveValue: { result in
                received.withLock { $0.append("\(result.data["tick"]?.integer ?? 0)") }
            }
        #expect(received.withLock { $0 } == ["1", "2", "3", "end"])
        withExtendedLifetime((client, line)) {}
    }

    @Test func endOfTheSourceEndsTheLoopOverAHostedSubscription() async throws {
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        dependencies.interceptors.add(ExchangeInterceptor([clock], logger: OffLogger()))
        let client = NetworkClientDefault(dependencies: dependencies)
        let request = GraphQLRequest(query: query, operationName: "Clock", kind: .subscription)
        var ticks: [JSONValue?] = []
        for try await result in try client.subscribe(to: request, at: GraphQLEndpoint("http://host/graphql")) {
            ticks.append(result.data?["tick"])
        }
        #expect(ticks == [1, 2, 3])
    }
}
