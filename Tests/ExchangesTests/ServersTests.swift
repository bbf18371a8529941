import BeagleNetExchanges
import Foundation
import GraphQLPeers
import Testing

import struct BeagleNetExchanges.Operation

/// The exchanges of a `Client` and hosted exchanges with third-party servers.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
struct ServersTests {
    private let post = ExecutionArgs(
        query: "query Post($id: ID!) { post(id: $id) { __typename id title } }",
        operationName: "Post",
        variables: ["id": "1"]
    )
    private let create = ExecutionArgs(
        query: "mutation Create($title: String!) { createPost(title: $title) { __typename title } }",
        variables: ["title": "New"]
    )

    private func quiet() -> BeagleDependencies {
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        return dependencies
    }

    private func client(_ path: String) async throws -> Client {
        Client(
            request: URLRequest(url: try await GraphQLServer.shared.url(path)),
            exchanges: [
                DedupExchange(), CacheExchange(),
                FetchExchange(client: NetworkClientDefault(dependencies: quiet())),
            ],
            logger: OffLogger()
        )
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"]) func queryReturnsData(path: String) async throws {
        let client = try await client(path)
        let result = try await client.query(post)
        #expect(result.error == nil)
        #expect(result.data["post"]?["title"] == "First")
        #expect(try await client.query(post, policy: .cacheOnly).data == result.data)
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"])
    func invalidDocumentIsAGraphQLError(path: String) async throws {
        let result = try await client(path).query(ExecutionArgs(query: "{ nothing }"))
        guard case .graphql(let errors)? = result.error else {
            Issue.record("the result has no GraphQL error: \(String(describing: result.error))")
            return
        }
        #expect(!errors.isEmpty)
        #expect(result.data == .null)
    }

    @Test(arguments: ["/graphql", "/ariadne"]) func allOperationsUseOneWebSocket(path: String) async throws {
        let test = UUID().uuidString
        var request = URLRequest(url: try await GraphQLServer.shared.url(path))
        request.setValue(test, forHTTPHeaderField: "X-Test")
        var options = GraphQLSocketOptions()
        options.lingerDuration = .seconds(60)
        let exchange = WebSocketExchange(
            client: NetworkClientDefault(dependencies: quiet()),
            over: [.webSocket(options)],
            handleAllOperations: true
        )
        let client = Client(request: request, exchanges: [DedupExchange(), exchange], logger: OffLogger())
        let args = ExecutionArgs(query: "subscription { count(to: 3) }")
        for _ in 0..<2 {
            let results = await withCheckedContinuation { continuation in
                let received = Lock<(results: [OperationResult], held: AnyCancellable?)>(([], nil))
                let held = client.subscribe(to: args).sink { _ in
                    continuation.resume(returning: received.withLock { $0.results })
                } receiveValue: { result in
                    received.withLock { $0.results.append(result) }
                }
                received.withLock { $0.held = held }
            }
            #expect(results.map { $0.data["count"] } == [1, 2, 3])
        }
        #expect(try await client.query(post).data["post"]?["title"] == "First")
        let requests = try await GraphQLServer.shared.log(of: test)["requests"]?.array
        #expect(requests?.count == 1)
    }

    @Test func parametersAreSentOnlyToTheOriginOfTheClient() async throws {
        var options = GraphQLSocketOptions()
        options.parameters = { ["token": "of Ann"] }
        let exchange = WebSocketExchange(
            client: NetworkClientDefault(dependencies: quiet()),
            over: [.webSocket(options)]
        )
        let url = try await GraphQLServer.shared.url("/graphql")
        let client = Client(request: URLRequest(url: url), exchanges: [exchange], logger: OffLogger())
        let other = try #require(URL(string: url.absoluteString.replacing("127.0.0.1", with: "localhost")))
        var tokens: [AnyCodable?] = []
        for request in [nil, URLRequest(url: other)] {
            let args = ExecutionArgs(query: "subscription { connection }")
            let listening = ResultCollector(client.subscribe(to: args, request: request))
            while listening.results.isEmpty { await Task.yield() }
            tokens.append(listening.results.first?.data["connection"]?["token"])
            listening.leave()
        }
        #expect(tokens == ["of Ann", nil])
    }

    @Test(arguments: ["/graphql", "/ariadne"]) func mutationReexecutesAQuery(path: String) async throws {
        let client = try await client(path)
        let query = ResultCollector(client.query(post))
        while query.results.isEmpty { await Task.yield() }
        let result = try await client.mutate(create)
        try #require(result.error == nil)
        #expect(result.data["createPost"]?["title"] == "New")
        while query.results.count < 3 { await Task.yield() }
        #expect(query.results.map(\.stale) == [false, true, false])
        #expect(query.results.map(\.operation.policy) == [.cacheFirst, .cacheFirst, .networkOnly])
        query.leave()
    }

    @Test(arguments: ["/empty", "/html"]) func invalidResponseIsAnError(path: String) async throws {
        let result = try await client(path).query(post)
        #expect(result.data == .null)
        #expect(result.error?.networkError != nil)
    }

    @Test func hostedExchangesReturnData() async throws {
        let dependencies = quiet()
        let exchanges: [any Exchange] = [LogExchange(), DedupExchange(), CacheExchange()]
        dependencies.interceptors.add(ExchangeInterceptor(exchanges, logger: OffLogger()))
        let client = NetworkClientDefault(dependencies: dependencies)
        let endpoint = GraphQLEndpoint(try await GraphQLServer.shared.url("/graphql"))
        let query = GraphQLRequest(query: post.query, operationName: "Post", variables: Data(#"{"id":"1"}"#.utf8))
        for _ in 0..<2 {
            let answer = try await client.response(to: query, at: endpoint).json()
            #expect(answer["data"]?["post"]?["title"] == "First")
        }
        let mutation = GraphQLRequest(
            query: create.query,
            kind: .mutation,
            variables: Data(#"{"title":"New"}"#.utf8)
        )
        let answer = try await client.response(to: mutation, at: endpoint).json()
        #expect(answer["data"]?["createPost"]?["title"] == "New")
    }
}
