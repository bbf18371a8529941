import BeagleNet
import BeagleNetCombine
import BeagleNetGraphQL
import BeagleNetURLSession
import Foundation
import GraphQLPeers
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The article's operations and the app's network for Relay, against two third-party servers.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
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
    func missingPostIsAFailure(path: String) async throws {
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
    func relayNetworkReceivesAResponse(path: String) async throws {
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

    @Test(arguments: ["/graphql", "/ariadne"])
    func relayNetworkWithCredentialsReceivesAResponse(path: String) async throws {
        let manager = CredentialsManager()
        let test = UUID().uuidString
        let url = try await GraphQLServer.shared.url(path)
        let network = SignedInApp.Network(credentialsManager: manager, endpoint: .init(url: url))
        let request = RequestParameters(
            name: "Posts",
            operationKind: .query,
            text: "query Posts($id: ID!) { post(id: $id) { title } } # \(test)"
        )
        let publisher = network.execute(request: request, variables: ["id": "1"], cacheConfig: CacheConfig())
        manager.renew(nil, Credentials(accessToken: "abc"))
        var answers: [JSONValue] = []
        for try await data in publisher.values { answers.append(try JSONValue(parsing: data)["data"] ?? .null) }
        #expect(answers == [["post": ["title": "First"]]])
        let requests = try await GraphQLServer.shared.log(of: "")["requests"]?.array ?? []
        let mine = requests.filter { $0["body"]?.string?.contains(test) == true }
        #expect(mine.map { $0["headers"]?["authorization"]?.string } == ["Bearer abc"])
    }

    @Test(arguments: ["/graphql", "/ariadne"])
    func postIsFetchedByURLSession(path: String) async throws {
        let dependencies = BeagleDependencies()
        dependencies.graphQLEndpoint = GraphQLEndpoint(try await GraphQLServer.shared.url(path))
        let request = try Beagle.Scope(dependencies).run {
            try GraphQLOperation.fetchPost(withID: "1").getURLRequest()
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        let result = try JSONDecoder().decode(GraphQLResult<Post>.self, from: data)
        #expect(result.object?.title == "First")
        #expect(result.errorMessages.isEmpty)
    }
}
