import BeagleNetGraphQL
import BeagleNetTesting
import Foundation
import GraphQLPeers
import Testing

/// Subscriptions with third-party servers.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
struct SubscriptionServersTests {
    private let dependencies = BeagleDependencies()

    init() {
        dependencies.logger = MemoryLogger()
        dependencies.interceptors.removeAll { $0 is RetryInterceptor }
        dependencies.interceptors.add(RetryInterceptor(subscriptionBackoff: Backoff(base: .zero, limit: 3)))
    }

    private func endpoint(
        _ path: String,
        _ ways: [GraphQLEndpoint.SubscriptionTransport],
        test: String = ""
    ) async throws -> GraphQLEndpoint {
        var endpoint = GraphQLEndpoint(try await GraphQLServer.shared.url(path), headers: ["X-Test": test])
        endpoint.subscriptions = ways
        return endpoint
    }

    private func subscription(
        _ query: String,
        _ endpoint: GraphQLEndpoint,
        buffering: GraphQLBuffering = .failing(4096)
    ) throws -> GraphQLSubscription<JSONValue> {
        try dependencies.networkClient.subscribe(
            to: GraphQLRequest(query: query, kind: .subscription),
            at: endpoint,
            buffering: buffering
        )
    }

    private func counts(_ numbers: ClosedRange<Int>) -> [String] { numbers.map { #"{"count":\#($0)}"# } }

    private static let resultsArriveUntilTheServerCompletesArguments:
        [(String, GraphQLEndpoint.SubscriptionTransport)] = [
            ("/graphql", GraphQLEndpoint.SubscriptionTransport.events()), ("/graphql", .multipart),
            ("/ariadne", .events()),
            ("/single", .events(.single)),
        ]

    @Test(arguments: Self.resultsArriveUntilTheServerCompletesArguments)
    func resultsArriveUntilTheServerCompletes(path: String, way: GraphQLEndpoint.SubscriptionTransport) async throws {
        let received = await EventTexts(try subscription("subscription { count(to: 5) }", endpoint(path, [way])).events)
        #expect(received.events == ["open"] + counts(1...5))
        #expect(received.error == nil)
    }

    private static let leavingTheLoopReachesTheServerArguments: [(String, GraphQLEndpoint.SubscriptionTransport)] = [
        ("/graphql", GraphQLEndpoint.SubscriptionTransport.events()), ("/graphql", .multipart), ("/ariadne", .events()),
        ("/single", .events(.single)),
    ]

    @Test(arguments: Self.leavingTheLoopReachesTheServerArguments)
    func leavingTheLoopReachesTheServer(path: String, way: GraphQLEndpoint.SubscriptionTransport) async throws {
        let test = "leaving \(path) \(way.word)"
        let endpoint = try await endpoint(path, [way], test: test)
        let received = await EventTexts(
            try subscription("subscription { count(to: 100000) }", endpoint).events,
            upTo: 4
        )
        #expect(received.events == ["open"] + counts(1...3))
        try await GraphQLServer.shared.event("count ended", of: test)
    }

    @Test(arguments: [GraphQLEndpoint.SubscriptionTransport.events(), .multipart])
    func errorsOfAResultAreReported(way: GraphQLEndpoint.SubscriptionTransport) async throws {
        let endpoint = try await endpoint("/graphql", [way])
        let received = await EventTexts(try subscription("subscription { count(to: 3, failAt: 2) }", endpoint).events)
        #expect(received.events.starts(with: ["open"] + counts(1...1)))
        #expect(
            received.events.contains { $0.contains("boom") } || received.error?.graphQLErrors.first?.message == "boom"
        )
    }

    private static let rejectedOperationTriesNoOtherTransportArguments:
        [(String, GraphQLEndpoint.SubscriptionTransport)] = [
            ("/graphql", GraphQLEndpoint.SubscriptionTransport.events()), ("/graphql", .multipart),
            ("/ariadne", .events()),
            ("/single", .events(.single)),
        ]

    @Test(arguments: Self.rejectedOperationTriesNoOtherTransportArguments)
    func rejectedOperationTriesNoOtherTransport(path: String, way: GraphQLEndpoint.SubscriptionTransport) async throws {
        let test = "refused \(path) \(way.word)"
        let endpoint = try await endpoint(path, [way, .multipart], test: test)
        let received = await EventTexts(try subscription("subscription { nothing }", endpoint).events)
        let text = received.events.joined() + (received.error?.graphQLErrors.map(\.message).joined() ?? "")
        #expect(text.contains("Cannot query field 'nothing'"))
        let methods = try await GraphQLServer.shared.log(of: test)["requests"]?.array?.compactMap {
            $0["method"]?.string
        }
        #expect(methods?.filter { $0 == "POST" }.count == 1)
    }

    @Test func unsupportedTransportIsNotTriedAgain() async throws {
        let ways: [GraphQLEndpoint.SubscriptionTransport] = [.webSocket(), .multipart, .events(.single), .events()]
        let endpoint = try await endpoint("/sse-only", ways, test: "order")
        for _ in 0..<2 {
            let received = await EventTexts(try subscription("subscription { count(to: 2) }", endpoint).events)
            #expect(received.events == ["open"] + counts(1...2))
        }
        let requests = try await GraphQLServer.shared.log(of: "order")["requests"]?.array ?? []
        #expect(requests.compactMap { $0["method"]?.string } == ["WEBSOCKET", "POST", "PUT", "POST", "POST"])
        #expect(requests.compactMap { $0["headers"]?["accept"]?.string?.prefix(4) }.last == "text")
    }

    @Test(arguments: [GraphQLEndpoint.SubscriptionTransport.events(), .multipart])
    func deferredQueryResultIsMerged(way: GraphQLEndpoint.SubscriptionTransport) async throws {
        var endpoint = try await endpoint("/graphql", [way])
        endpoint.kindsOverSubscriptionTransports = [.query]
        let query =
            #"{ post(id: 1) { id ...@defer(label: "b") { slowBody author { name } } comments @stream { id } } }"#
        let answer = try await dependencies.networkClient.response(to: GraphQLRequest(query: query), at: endpoint)
        let expected: JSONValue = [
            "post": [
                "id": "1", "slowBody": "Hello, world", "author": ["name": "Ann"],
                "comments": [["id": "1-1"], ["id": "1-2"], ["id": "1-3"]],
            ]
        ]
        #expect(try JSONValue(parsing: answer.data)["data"] == expected)
    }

    @Test func eventsWithIDsArriveOnceAndInOrderDespiteLostConnections() async throws {
        let endpoint = try await endpoint("/ids?to=10000", [.events()], test: "ids")
        let subscription = try subscription("subscription { count }", endpoint, buffering: .failing(10_000))
        var (numbers, losses) = ([Int64](), 0)
        for try await event in subscription.events {
            switch event {
            case .response(let response): numbers.append(response.data?["count"]?.integer ?? 0)
            case .interrupted: losses += 1
            case .open, .dropped: break
            }
        }
        #expect(numbers == Array(1...10_000))
        #expect(losses > 30)
    }
}

extension GraphQLEndpoint.SubscriptionTransport {
    fileprivate var word: String {
        switch self {
        case .events(.distinct): "events"
        case .events(.single): "single"
        case .multipart: "multipart"
        case .webSocket: "socket"
        }
    }
}
