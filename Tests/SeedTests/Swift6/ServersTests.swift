import BeagleNet
import BeagleNetCombine
import BeagleNetGraphQL
import Foundation
import GraphQLPeers
import Testing

/// The article's operations and the app's network for Relay, against servers of two other makers.
@Suite(.timeLimit(.minutes(2)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
struct ServersTests {
    private func perform<Output: Sendable>(
        _ path: String,
        _ start: @Sendable (@escaping @Sendable (Result<Output, any Error>) -> Void) -> Void
    ) async throws -> Result<Output, any Error> {
        let dependencies = BeagleDependencies()
        dependencies.graphQLEndpoint = GraphQLEndpoint(try await GraphQLServer.shared.url(path))
        return await Beagle.Scope(dependencies).run {
            await withCheckedContinuation { continuation in
                start { continuation.resume(returning: $0) }
            }
        }
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"])
    func postIsFetched(path: String) async throws {
        let result: Result<Post, any Error> = try await perform(path) { completion in
            performOperation(GraphQLOperation.fetchPost(withID: "1"), completion: completion)
        }
        #expect(try result.get().title == "First")
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"])
    func postThatIsNotThereIsAFailure(path: String) async throws {
        let result: Result<Post, any Error> = try await perform(path) { completion in
            performOperation(GraphQLOperation.fetchPost(withID: "99"), completion: completion)
        }
        #expect(throws: NetworkError.self) { try result.get() }
    }

    @Test(arguments: ["/graphql", "/ariadne"])
    func postIsCreated(path: String) async throws {
        let result: Result<Post, any Error> = try await perform(path) { completion in
            performOperation(Queries.create(NewPost(title: "New", body: "b")), completion: completion)
        }
        #expect(try result.get().title == "New")
    }

    @Test(arguments: ["/graphql", "/ariadne"])
    func relayIsAnswered(path: String) async throws {
        let network: Relay.Network = Network(graphqlURL: try await GraphQLServer.shared.url(path))
        let request = RequestParameters(
            name: "Posts",
            operationKind: .query,
            text: "query Posts($id: ID!) { post(id: $id) { title } }"
        )
        let publisher = network.execute(request: request, variables: ["id": "1"], cacheConfig: CacheConfig())
        var answers: [JSONValue] = []
        for try await data in publisher.values { answers.append(try JSONValue(parsing: data)["data"] ?? .null) }
        #expect(answers == [["post": ["title": "First"]]])
    }
}
