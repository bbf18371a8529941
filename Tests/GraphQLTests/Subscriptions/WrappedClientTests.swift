import BeagleNetGraphQL
import BeagleNetTesting
import Foundation
import Testing

/// Subscriptions through an app's own clients that wrap another.
@Suite(.beagle(.live) { $0.logger = MemoryLogger() }, .timeLimit(.minutes(5))) struct WrappedClientTests {
    private struct Wrapper: NetworkClientWrapper {
        let wrapped: any NetworkClient
        let names: Lock<[String]>

        func prepare(_ operation: inout NetworkOperation) {
            names.withLock { [operation] in $0.append(operation.operationName ?? "-") }
        }
    }

    private struct SeedClient: NetworkClient {
        let client: any NetworkClient

        func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
            client.executeRequest(request, completion: completion)
        }
    }

    private static let results =
        "event: next\ndata: {\"data\":{\"count\":1}}\n\nevent: next\ndata: {\"data\":{\"count\":2}}\n\nevent: complete\ndata:\n\n"

    @Test func registeredWrapperUsesTheEndpointOfItsScope() async throws {
        let fixture = try SubscriptionFixture(answers: .events(Self.results))
        let names = Lock<[String]>([])
        let app = BeagleDependencies()
        app.logger = MemoryLogger()
        app.register(\.networkClient) { Wrapper(wrapped: NetworkClientDefault(dependencies: $0), names: names) }
        let scope = app.scoped { $0.graphQLEndpoint = fixture.endpoint }
        let request = GraphQLRequest(query: "subscription Count { count }", operationName: "Count", kind: .subscription)
        var counts: [JSONValue?] = []
        for try await result in try scope.networkClient.subscribe(to: request) { counts.append(result.data?["count"]) }
        #expect(counts == [1, 2])
        #expect(names.withLock { $0 } == ["Count"])
        #expect(fixture.server.record.requestCount == 1)
    }

    @Test func minimalClientThrowsAnErrorThatNamesTheRequiredProtocol() async throws {
        let fixture = try SubscriptionFixture(answers: .events(Self.results))
        let client = SeedClient(client: fixture.client)
        let request = GraphQLRequest(query: SubscriptionFixture.query, kind: .subscription)
        let error = await #expect(throws: NetworkError.self) {
            for try await _ in try client.subscribe(to: request, at: fixture.endpoint) {}
        }
        #expect(error?.kind == .unsupported)
        #expect(error?.message.contains("SeedClient") == true)
        #expect(error?.advice?.contains("NetworkClientWrapper") == true)
        #expect(fixture.server.record.requestCount == 0)
    }
}
