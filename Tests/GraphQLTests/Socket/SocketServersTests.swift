import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import GraphQLPeers
import Testing

/// Operations over WebSockets of third-party servers.
@Suite(.leavesNothing, .timeLimit(.minutes(5)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
struct SocketServersTests {
    private let client = NetworkClientDefault(dependencies: BeagleDependencies())

    private func endpoint(
        _ path: String,
        _ options: GraphQLSocketOptions = GraphQLSocketOptions(),
        test: String = #function
    ) async throws -> GraphQLEndpoint {
        var endpoint = GraphQLEndpoint(try await GraphQLServer.shared.url(path), headers: ["X-Test": test])
        endpoint.subscriptions = [.webSocket(options)]
        endpoint.kindsOverSubscriptionTransports = [.query, .mutation, .subscription]
        return endpoint
    }

    private func requests(_ test: String = #function) async throws -> [JSONValue] {
        let name = test.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return try await GraphQLServer.shared.log(of: name)["requests"]?.array ?? []
    }

    private static var older: GraphQLSocketOptions {
        var options = GraphQLSocketOptions()
        options.subprotocol = .graphQLWS
        return options
    }

    private func counts(_ text: String, at endpoint: GraphQLEndpoint) async throws -> [Int] {
        var counts: [Int] = []
        for try await result in try client.subscribe(to: .document(text, as: Int.self), at: endpoint) {
            counts.append(try #require(result.data))
        }
        return counts
    }

    @Test(arguments: ["/graphql", "/ariadne"])
    func subscriptionReceivesAllResults(path: String) async throws {
        #expect(try await counts("subscription { count(to: 5) }", at: endpoint(path)) == [1, 2, 3, 4, 5])
    }

    @Test(arguments: ["/graphql", "/ariadne-older"]) func olderProtocolReceivesAllResults(path: String) async throws {
        #expect(try await counts("subscription { count(to: 5) }", at: endpoint(path, Self.older)) == [1, 2, 3, 4, 5])
    }

    @Test func concurrentSubscriptionsShareOneConnection() async throws {
        let endpoint = try await endpoint("/graphql")
        async let one = counts("subscription { count(to: 20) }", at: endpoint)
        async let other = counts("subscription { count(to: 30) }", at: endpoint)
        #expect(try await one == Array(1...20))
        #expect(try await other == Array(1...30))
        #expect(try await requests().count == 1)
    }

    @Test(arguments: [GraphQLSocketOptions(), older])
    func refusedOperationIsAGraphQLError(options: GraphQLSocketOptions) async throws {
        let endpoint = try await endpoint("/graphql", options)
        let error = await #expect(throws: NetworkError.self) {
            _ = try await counts("subscription { nothing }", at: endpoint)
        }
        #expect(error?.kind == .graphQL)
        #expect(error?.graphQLErrors.first?.message.contains("nothing") == true)
    }

    @Test func errorsBesideDataArriveWithTheResponse() async throws {
        let endpoint = try await endpoint("/graphql")
        var messages: [String] = []
        let subscription = try client.subscribe(
            to: .document("subscription { count(to: 3, failAt: 2) }", as: Int?.self),
            at: endpoint
        )
        for try await result in subscription { messages += result.errors.map(\.message) }
        #expect(messages == ["boom"])
    }

    @Test func queryAndMutationAreSentOverTheWebSocket() async throws {
        let endpoint = try await endpoint("/graphql")
        #expect(try await client.perform(.post("2"), at: endpoint).title == "Ünïcode 😀")
        let created = GraphQLOperation<NoInput, Post>.document(#"mutation { createPost(title: "New") { id title } }"#)
        #expect(try await client.perform(created, at: endpoint).title == "New")
        let requests = try await requests()
        #expect(requests.map { $0["method"]?.string } == ["WEBSOCKET"])
        #expect(requests.first?["messages"]?.array?.count == 3)
    }

    @Test func acknowledgementPayloadIsReported() async throws {
        let received = Lock<[JSONValue?]>([])
        var options = GraphQLSocketOptions()
        options.onEvent = { event in
            if case .connected(let payload, _) = event { received.withLock { $0.append(payload) } }
        }
        #expect(try await counts("subscription { count(to: 2) }", at: endpoint("/graphql", options)) == [1, 2])
        #expect(received.withLock { $0 } == [["server": "strawberry"]])
    }

    @Test func parametersReachTheServerAndNilParametersAreOmitted() async throws {
        struct Parameters: Decodable, Sendable { let token: String }
        var options = GraphQLSocketOptions()
        options.parameters = { ["token": "of Ann"] }
        let text = "subscription { connection }"
        let subscription = try client.subscribe(
            to: .document(text, as: Parameters.self),
            at: try await endpoint("/graphql", options)
        )
        var tokens: [String?] = []
        for try await result in subscription { tokens.append(result.data?.token) }
        #expect(tokens == ["of Ann"])

        options.parameters = { nil }
        #expect(try await counts("subscription { count(to: 1) }", at: endpoint("/graphql", options)) == [1])
    }

    @Test func refusedParametersAreReportedAndRequestedAgain() async throws {
        var options = GraphQLSocketOptions()
        let attempts = Lock(0)
        options.parameters = {
            let count = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            return ["reject": .bool(count == 1)]
        }
        let dependencies = BeagleDependencies()
        dependencies.interceptors = [RetryInterceptor(subscriptionBackoff: Backoff(base: .zero, limit: 3))]
        let client = NetworkClientDefault(dependencies: dependencies)
        let subscription = try client.subscribe(
            to: .document("subscription { count(to: 2) }", as: Int.self),
            at: try await endpoint("/graphql", options)
        )
        var codes: [UInt16?] = []
        var counts: [Int?] = []
        for try await event in subscription.events {
            switch event {
            case .interrupted(let error, _): codes.append(error.webSocketClose?.code.rawValue)
            case .response(let response): counts.append(response.data)
            case .open, .dropped: break
            }
        }
        #expect(codes == [4403])
        #expect(counts == [1, 2])
    }

    @Test(arguments: [GraphQLSocketOptions(), older])
    func leavingTheLoopEndsTheOperationOnTheServer(options: GraphQLSocketOptions) async throws {
        let test = "leavingTheLoopEndsTheOperationOnTheServer\(options.subprotocol.rawValue)"
        let endpoint = try await endpoint("/graphql", options, test: test)
        let subscription = try client.subscribe(
            to: .document("subscription { count(to: 1000000, every: 5) }", as: Int.self),
            at: endpoint
        )
        for try await _ in subscription { break }
        try await GraphQLServer.shared.event("count ended", of: test)
    }

    @Test func unknownSubprotocolIsUnsupported() async throws {
        var options = GraphQLSocketOptions()
        options.subprotocol = GraphQLSocketOptions.Subprotocol(rawValue: "another")
        let endpoint = try await endpoint("/graphql", options)
        let error = await #expect(throws: NetworkError.self) {
            _ = try await counts("subscription { count }", at: endpoint)
        }
        #expect(error?.kind == .unsupported)
    }
}
