import BeagleNet
import BeagleNetCombine
import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

/// A Relay network and its server.
struct RelayFixture {
    static let answer = #"{"data":{"posts":[{"id":"1"}]}}"#

    let server: LoopbackServer
    let dependencies = BeagleDependencies()
    let logger = MemoryLogger()
    let clock = ManualClock()
    var network: RelayNetwork

    init(_ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response) throws {
        server = try LoopbackServer(answer: answer)
        dependencies.logger = logger
        dependencies.clock = clock
        let endpoint = GraphQLEndpoint(try #require(URL(string: server.url + "/graphql")))
        network = RelayNetwork(client: dependencies.networkClient, at: endpoint)
    }

    /// Creates a fixture whose server sends the same response to every request.
    init(_ body: String = RelayFixture.answer, status: Int = 200, type: String = "application/json") throws {
        try self.init { _ in .response(status, ["Content-Type": type], body) }
    }

    func publisher(
        _ request: RequestParameters = .posts,
        _ variables: VariableData = [:],
        _ config: CacheConfig = CacheConfig()
    ) -> AnyPublisher<Data, any Error> {
        network.execute(request: request, variables: variables, cacheConfig: config)
    }

    func texts(
        _ request: RequestParameters = .posts,
        _ variables: VariableData = [:],
        _ config: CacheConfig = CacheConfig()
    ) async throws -> [String] {
        try await publisher(request, variables, config).texts()
    }

    /// Returns the error that ends an execution.
    func failure(
        _ request: RequestParameters = .posts,
        _ config: CacheConfig = CacheConfig()
    ) async throws -> NetworkError {
        do {
            let texts = try await texts(request, [:], config)
            throw NetworkError(.other, during: .response, "there was no failure but \(texts)")
        } catch {
            return try #require(error as? NetworkError)
        }
    }

    var bodies: [String] { server.requests.map { String(decoding: $0.body, as: UTF8.self) } }
}

extension AnyPublisher<Data, any Error> {
    /// Returns all values as text.
    func texts() async throws -> [String] {
        var texts: [String] = []
        for try await data in values { texts.append(String(decoding: data, as: UTF8.self)) }
        return texts
    }
}

extension RequestParameters {
    static let posts = RequestParameters(name: "Posts", operationKind: .query, text: "query Posts { posts { id } }")
    static let like = RequestParameters(name: "Like", operationKind: .mutation, text: "mutation Like { like }")
}
