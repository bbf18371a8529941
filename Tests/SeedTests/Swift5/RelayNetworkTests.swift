import BeagleNet
import BeagleNetCombine
import BeagleNetTesting
import Foundation
import Testing

/// The app's networks for Relay, against real sockets.
struct RelayNetworkTests {
    private let posts = RequestParameters(
        name: "Posts",
        operationKind: .query,
        text: "query Posts($first: Int) { posts(first: $first) { id } }"
    )
    private let answer = #"{"data":{"posts":[{"id":"1"}]}}"#

    private func endpoint(_ server: LoopbackServer) throws -> URL {
        try #require(URL(string: server.url + "/graphql"))
    }

    private func text(_ publisher: AnyPublisher<Data, Error>) async throws -> [String] {
        var answers: [String] = []
        for try await data in publisher.values { answers.append(String(decoding: data, as: UTF8.self)) }
        return answers
    }

    @Test func operationIsSentAndItsResponseReturned() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], answer))
        let network: Relay.Network = Network(graphqlURL: try endpoint(server))
        let publisher = network.execute(
            request: posts,
            variables: ["first": 10, "after": nil as String?],
            cacheConfig: CacheConfig()
        )
        #expect(server.requests.isEmpty)
        #expect(try await text(publisher) == [answer])

        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.target == "/graphql")
        #expect(request["Content-Type"] == "application/json")
        let body: JSONValue = [
            "query": .string(posts.text ?? ""), "operationName": "Posts", "variables": ["first": 10, "after": nil],
        ]
        #expect(try JSONValue(parsing: request.body) == body)
    }

    @Test func serverErrorsAreReturnedAsTheResponse() async throws {
        let refused = #"{"errors":[{"message":"no such field"}]}"#
        let server = try LoopbackServer(.response(400, ["Content-Type": "application/json"], refused))
        let network = Network(graphqlURL: try endpoint(server))
        let publisher = network.execute(request: posts, variables: [:], cacheConfig: CacheConfig(force: true))
        #expect(try await text(publisher) == [refused])
    }

    @Test func unreachableServerIsAFailure() async throws {
        let network = Network(graphqlURL: try #require(URL(string: "http://127.0.0.1:1")))
        let publisher = network.execute(request: posts, variables: [:], cacheConfig: CacheConfig())
        do {
            _ = try await text(publisher)
            Issue.record("a response arrived")
        } catch {
            #expect(error is URLError)
        }
    }

    @Test func cancellingEndsTheRequest() async throws {
        let server = try LoopbackServer(.stall)
        let publisher = Network(graphqlURL: try endpoint(server))
            .execute(request: posts, variables: [:], cacheConfig: CacheConfig())
        let held = publisher.sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        await server.until { $0.requestCount == 1 }
        held.cancel()
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func credentialsAreFetchedBeforeTheRequest() async throws {
        let server = try LoopbackServer(.response(200, [:], answer))
        let manager = CredentialsManager()
        let network = SignedInApp.Network(
            credentialsManager: manager,
            endpoint: .init(url: try endpoint(server))
        )
        let publisher = network.execute(request: posts, variables: ["first": 1], cacheConfig: CacheConfig())
        #expect(server.requests.isEmpty)
        manager.renew(nil, Credentials(accessToken: "abc"))
        #expect(try await text(publisher) == [answer])
        let request = try #require(server.requests.first)
        #expect(request["Authorization"] == "Bearer abc")
        #expect(try JSONValue(parsing: request.body)["variables"] == ["first": 1])
    }

    @Test func nothingIsSentWithoutCredentials() async throws {
        let server = try LoopbackServer(.response(200, [:], answer))
        let manager = CredentialsManager()
        let network = SignedInApp.Network(
            credentialsManager: manager,
            endpoint: .init(url: try endpoint(server))
        )
        let publisher = network.execute(request: posts, variables: [:], cacheConfig: CacheConfig())
        manager.renew(.noRefreshToken, nil)
        do {
            _ = try await text(publisher)
            Issue.record("a response arrived")
        } catch {
            #expect(error as? CredentialsManagerError == .noRefreshToken)
        }
        #expect(server.requests.isEmpty)
    }

    @Test func customNetworkReturnsStoredResults() async throws {
        let network = StoredNetwork()
        network.answers["Posts{first:2}"] = answer
        func texts(_ variables: VariableData) async throws -> [String] {
            try await text(network.execute(request: posts, variables: variables, cacheConfig: CacheConfig()))
        }
        #expect(try await texts(["first": 2]) == [answer])
        #expect(try await texts(["first": 3]).isEmpty)
    }
}
