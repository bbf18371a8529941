import BeagleNet
import BeagleNetExchanges
import Foundation
import GraphQLPeers
import Synchronization
import Testing

import struct BeagleNetExchanges.Operation

/// Collects the output of `LoggingExchange`.
final class Lines: TextOutputStream, Sendable {
    static let shared = Lines()
    private let lines = Mutex<[String]>([])

    func write(_ string: String) { lines.withLock { $0.append(string) } }
    var text: String { lines.withLock { $0.joined() } }
}

/// The seed's exchanges, in a client and in a pipeline.
struct LadderExchangesTests {
    private func client(_ exchanges: [any Exchange], _ url: URL = URL(filePath: "/graphql"))
        -> BeagleNetExchanges.Client
    {
        Client(request: URLRequest(url: url), exchanges: exchanges)
    }

    /// Returns `{"data":{"hello":"world"}}`.
    private let network = StubClient { _ in
        try NetworkResponse(json: ["data": ["hello": "world"]])
    }

    @Test func operationPassesThroughTheSeedsExchanges() async throws {
        let client = client([
            DoNothingExchange(), LoggingExchange(), PrintingExchange(), FetchExchange(client: network),
        ])
        let result = try await client.query(ExecutionArgs(query: "{ hello }"))
        #expect(result.data == ["hello": "world"])
        #expect(Lines.shared.text.contains("down: receive value:"))
        #expect(Lines.shared.text.contains("up: receive value:"))
    }

    @Test func userExchangeSendsResultsUntilTheTeardown() async throws {
        let answers = PassthroughSubject<Int, Never>()
        let time = TimeExchange(answers: answers.eraseToAnyPublisher())
        let client = client([DoNothingExchange(), time, FetchExchange(client: network)])
        let args = ExecutionArgs(query: "subscription Time { time }", operationName: "Time")
        let received = ReceivedValues()
        let subscription = client.subscribe(to: args).sink { received.note($0.data) }
        answers.send(1)
        answers.send(2)
        subscription.cancel()
        answers.send(3)
        #expect(received.all == [["time": 1], ["time": 2]])
        #expect(try await client.query(ExecutionArgs(query: "{ hello }")).data == ["hello": "world"])
    }

    private func hosting(_ exchanges: any Exchange...) -> BeagleNet.NetworkClientDefault {
        let dependencies = BeagleDependencies()
        dependencies.interceptors.add(ExchangeInterceptor(exchanges))
        return BeagleNet.NetworkClientDefault(dependencies: dependencies)
    }

    @Test(.timeLimit(.minutes(5)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
    func pipelineHostsTheSeedsExchanges() async throws {
        let client = hosting(DoNothingExchange(), LoggingExchange(), PrintingExchange())
        let endpoint = GraphQLEndpoint(try await GraphQLServer.shared.url("/graphql"))
        let query = GraphQLRequest(query: "query Hosted { post(id: \"1\") { title } }", operationName: "Hosted")
        for _ in 0..<2 {
            let answer = try await client.response(to: query, at: endpoint).json()
            #expect(answer["data"] == ["post": ["title": "First"]])
        }
        #expect(Lines.shared.text.contains("down: receive value:"))
        #expect(Lines.shared.text.contains("up: receive value:"))
    }

    /// The exchange sends the results; no server listens at the URL.
    @Test(.timeLimit(.minutes(5))) func pipelineHostsAUserExchange() async throws {
        let ends = Ends()
        let time = TimeExchange(
            answers: [1, 2, 3].publisher
                .append(Empty(completeImmediately: false))
                .handleEvents(receiveCancel: { ends.note() })
                .eraseToAnyPublisher()
        )
        let client = hosting(DoNothingExchange(), time)
        let request = GraphQLRequest(query: "subscription Time { time }", operationName: "Time", kind: .subscription)
        let endpoint = GraphQLEndpoint("http://127.0.0.1:1/graphql")
        var received: [Int64?] = []
        // Twice: the teardown must have ended the first subscription.
        for _ in 0..<2 {
            received = []
            for try await answer in try client.subscribe(to: request, at: endpoint) {
                received.append(answer.data?["time"]?.integer)
                if received.count == 3 { break }
            }
            #expect(received == [1, 2, 3])
        }
        while ends.count < 2 { await Task.yield() }
    }

    /// Counts the streams of a user's exchange that have ended.
    private final class Ends: Sendable {
        private let number = Mutex(0)

        func note() { number.withLock { $0 += 1 } }
        var count: Int { number.withLock { $0 } }
    }

    @Test(.timeLimit(.minutes(5)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
    func serverResponsePassesThroughTheExchanges() async throws {
        let network = BeagleNet.NetworkClientDefault(dependencies: BeagleDependencies())
        let exchanges: [any Exchange] = [
            DoNothingExchange(), LoggingExchange(), DedupExchange(), CacheExchange(), FetchExchange(client: network),
        ]
        let client = client(exchanges, try await GraphQLServer.shared.url("/graphql"))
        let args = ExecutionArgs(query: "query($id: ID!) { post(id: $id) { title } }", variables: ["id": "1"])
        let result = try await client.query(args)
        #expect(result.error == nil)
        #expect(result.data == ["post": ["title": "First"]])
        #expect(try await client.query(args, policy: .cacheOnly).data == result.data)
    }

    private final class ReceivedValues: Sendable {
        private let values = Mutex<[AnyCodable]>([])

        func note(_ value: AnyCodable) { values.withLock { $0.append(value) } }
        var all: [AnyCodable] { values.withLock { $0 } }
    }
}
