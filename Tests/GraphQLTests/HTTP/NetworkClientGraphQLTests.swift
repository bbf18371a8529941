import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Encoding, decoding and logging of values.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct NetworkClientGraphQLTests {
    private struct SinceVariables: Codable, Sendable, Equatable {
        let since: Date
    }

    private let dependencies = BeagleDependencies()
    private let logger = MemoryLogger()
    private let time = SinceVariables(since: Date(timeIntervalSince1970: 60))
    private var client: NetworkClientDefault { NetworkClientDefault(dependencies: dependencies) }

    init() {
        dependencies.logger = logger
    }

    private func operation() -> GraphQLOperation<SinceVariables, SinceVariables> {
        GraphQLOperation(input: time, operationString: "query($since: Time!) { post(since: $since) { since } }")
    }

    private func server(_ body: String) throws -> LoopbackServer {
        try LoopbackServer(.response(200, ["Content-Type": "application/json"], body))
    }

    @Test func customScalarsUseTheEncoderOfTheContainer() async throws {
        let server = try server(#"{"data":{"post":{"since":0}}}"#)
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        dependencies.graphQLEncoder = encoder
        _ = try await client.perform(operation(), at: GraphQLEndpoint(server.url))
        let body = try JSONValue(parsing: #require(server.requests.first?.body))
        #expect(body["variables"] == ["since": "1970-01-01T00:01:00Z"])
    }

    @Test func customScalarsUseTheDecoderOfTheCall() async throws {
        let server = try server(#"{"data":{"post":{"since":"1970-01-01T00:01:00Z"}}}"#)
        let endpoint = GraphQLEndpoint(server.url)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        #expect(try await client.perform(operation(), at: endpoint, decoder: decoder) == time)
        #expect(try await client.execute(operation(), at: endpoint, decoder: decoder).data == time)
        let error = await #expect(throws: NetworkError.self) { try await client.perform(operation(), at: endpoint) }
        #expect(error?.kind == .decoding)
    }

    /// The log contains codes that are single words, but nothing that may contain a secret of the server.
    @Test(arguments: [
        (#"[{"message":"token","extensions":{"code":"HALF"}},{"message":"token"}]"#, "2 errors: HALF"),
        (#"[{"message":"token","extensions":{"code":"a secret"}}]"#, "1 error"),
    ])
    func errorsBesideDataAreLogged(errors: String, words: String) async throws {
        let server = try server(#"{"data":{"post":{"since":0}},"errors":\#(errors)}"#)
        _ = try await client.perform(operation(), at: GraphQLEndpoint(server.url))
        let lines = logger.logs.filter { $0.category == "GraphQL" }
        #expect(lines.map(\.message) == ["the response has data and " + words])
        #expect(lines.map(\.level) == [.warning])
    }

    @Test func errorsReturnedToTheCallerAreNotLogged() async throws {
        let server = try server(#"{"data":{"post":{"since":0}},"errors":[{"message":"half"}]}"#)
        let response = try await client.execute(operation(), at: GraphQLEndpoint(server.url))
        #expect(response.errors.count == 1)
        #expect(!logger.logs.contains { $0.category == "GraphQL" })
    }
}
