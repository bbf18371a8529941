import BeagleNetExchanges
import BeagleNetHTTP
import Foundation
import Testing

import struct BeagleNetExchanges.Operation

@Suite(.timeLimit(.minutes(5))) struct FetchExchangeTests {
    /// Creates clients and records their requests.
    private final class Network: Sendable {
        let requests = Lock<[Request]>([])
        let cancelled = Lock(0)

        func client(_ answer: @escaping @Sendable (Request) async throws -> NetworkResponse) -> StubClient {
            StubClient { [self] request in
                requests.withLock { $0.append(request) }
                return try await answer(request)
            }
        }
    }

    private let network = Network()

    private func result(
        of operation: Operation = .query(),
        _ way: ExchangePlacement = .alone,
        _ answer: @escaping @Sendable (Request) async throws -> NetworkResponse
    ) async throws -> OperationResult {
        let fixture = try way.fixture(FetchExchange(client: network.client(answer)))
        await fixture.ask(operation)
        while fixture.results.isEmpty { await Task.yield() }
        #expect(!fixture.log.forwarded.contains { $0.kind != .teardown })
        return try #require(fixture.results.first)
    }

    @Test(arguments: ExchangePlacement.allCases) func resultIsDelivered(_ way: ExchangePlacement) async throws {
        let result = try await result(way) { _ in try NetworkResponse(json: ["data": ["hello": "world"]]) }
        #expect(result.data == ["hello": "world"])
        #expect(result.error == nil)
        #expect(result.stale == false)
        #expect(result.operation.name == "q")
    }

    @Test func operationIsPostedWithItsHeaderFields() async throws {
        var operation = Operation.mutation()
        operation.request = URLRequest(url: URL(filePath: "/somewhere"))
        operation.request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
        operation.args = ExecutionArgs(
            query: "mutation M($id: ID) { change(id: $id) }",
            operationName: "M",
            variables: ["id": 1],
            extensions: ["trace": true]
        )
        _ = try await result(of: operation) { _ in try NetworkResponse(json: ["data": ["change": true]]) }
        let request = try #require(network.requests.withLock { $0.first })
        #expect(request.url == URL(filePath: "/somewhere"))
        guard case .rawRequest(let data) = request.type else {
            Issue.record("the request is not a raw request")
            return
        }
        #expect(data.method == "POST")
        #expect(data.headers?["Authorization"] == "Bearer token")
    }

    @Test(arguments: ExchangePlacement.allCases) func graphQLErrorsAreDeliveredWithTheData(_ way: ExchangePlacement)
        async throws
    {
        let result = try await result(way) { _ in
            try NetworkResponse(
                json: [
                    "data": ["hello": nil], "errors": [["message": "no"]], "extensions": ["cost": 2], "hasNext": false,
                ]
            )
        }
        #expect(result.data == ["hello": nil])
        guard case .graphql(let errors)? = result.error else {
            Issue.record("the result has no GraphQL error")
            return
        }
        #expect(errors.map(\.message) == ["no"])
        #expect(result.extensions == ["cost": 2])
        #expect(result.hasNext == false)
    }

    @Test(arguments: ExchangePlacement.allCases) func networkFailureIsANetworkError(_ way: ExchangePlacement)
        async throws
    {
        let result = try await result(way) { _ in throw NetworkError(.connect, during: .connect, "no connection") }
        #expect(result.data == .null)
        #expect(result.error == .network(URLError(.cannotConnectToHost)))
        #expect(result.error?.networkError?.message == "no connection")
        #expect(result.stale == false)
    }

    /// Defect D11 of the original: a decoding error was reported.
    @Test(arguments: ExchangePlacement.allCases) func errorStatusWithoutABodyIsANetworkError(_ way: ExchangePlacement)
        async throws
    {
        let result = try await result(way) { _ in NetworkResponse(response: HTTPResponse(status: .unauthorized)) }
        #expect(result.error == .network(URLError(.userAuthenticationRequired)))
        #expect(result.error?.networkError?.kind == .status)
        #expect(result.error?.networkError?.response?.status == .unauthorized)
    }

    @Test(arguments: ExchangePlacement.allCases) func errorsInAnErrorResponseAreGraphQLErrors(_ way: ExchangePlacement)
        async throws
    {
        let result = try await result(way) { _ in
            try NetworkResponse(json: ["errors": [["message": "unknown field"]]], status: .badRequest)
        }
        guard case .graphql(let errors)? = result.error else {
            Issue.record("the result has no GraphQL error")
            return
        }
        #expect(errors.map(\.message) == ["unknown field"])
    }

    @Test(arguments: ExchangePlacement.allCases) func htmlBodyIsADecodingError(_ way: ExchangePlacement) async throws {
        let result = try await result(way) { _ in NetworkResponse(text: "<html>") }
        #expect(result.error?.networkError?.kind == .decoding)
        #expect(result.data == .null)
    }

    @Test(arguments: ExchangePlacement.allCases) func otherOperationsAreForwarded(_ way: ExchangePlacement) async throws
    {
        let fixture = try way.fixture(FetchExchange(client: network.client { _ in NetworkResponse() }))
        await fixture.ask(.subscription())
        await fixture.leave(.subscription())
        #expect(fixture.events == ["s>>", "s|"])
        #expect(network.requests.withLock { $0.isEmpty })
    }

    @Test(arguments: ExchangePlacement.allCases) func teardownCancelsTheRequestAndIsForwarded(_ way: ExchangePlacement)
        async throws
    {
        let fixture = try way.fixture(FetchExchange(client: waiting))
        await fixture.ask(.query())
        while network.requests.withLock({ $0.isEmpty }) { await Task.yield() }
        await fixture.leave(.query())
        while network.cancelled.withLock({ $0 }) == 0 { await Task.yield() }
        #expect(fixture.results.isEmpty)
        #expect(fixture.log.forwarded.map(\.kind) == [.teardown])
    }

    @Test func endOfTheExchangesCancelsAllRequests() async throws {
        let fixture = ExchangeFixture(FetchExchange(client: waiting))
        for number in 0..<3 { fixture.operations.send(.query("q\(number)")) }
        while network.requests.withLock({ $0.count }) < 3 { await Task.yield() }
        fixture.end()
        while network.cancelled.withLock({ $0 }) < 3 { await Task.yield() }
        #expect(fixture.results.isEmpty)
    }

    @Test func cancellingTheSubscriberCancelsTheRequest() async throws {
        let client = Client(
            request: URLRequest(url: URL(filePath: "/graphql")),
            exchanges: [DedupExchange(), CacheExchange(), FetchExchange(client: waiting)],
            logger: OffLogger()
        )
        let listening = ResultCollector(client.query(ExecutionArgs(query: "{ hello }")))
        while network.requests.withLock({ $0.isEmpty }) { await Task.yield() }
        listening.leave()
        while network.cancelled.withLock({ $0 }) == 0 { await Task.yield() }
    }

    /// A client that completes requests only when they are cancelled.
    private var waiting: StubClient {
        network.client { [network] _ in
            let (stream, end) = AsyncStream<Void>.makeStream()
            await withTaskCancellationHandler {
                for await _ in stream {}
            } onCancel: {
                network.cancelled.withLock { $0 += 1 }
                end.finish()
            }
            throw CancellationError()
        }
    }
}
