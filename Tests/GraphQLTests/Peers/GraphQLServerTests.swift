import BeagleNetGraphQL
import GraphQLPeers
import Testing

/// The behavior of the test server that other tests rely on.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
struct GraphQLServerTests {
    private let client = NetworkClientDefault(dependencies: BeagleDependencies())

    @Test(arguments: ["/graphql", "/strict", "/ariadne", "/apq-unsupported"])
    func serverRunsQueries(path: String) async throws {
        let answer = try await client.send(post("{ post(id: 1) { title } }", to: path))
        #expect(answer.status == .ok)
        #expect(try JSONValue(parsing: answer.data) == ["data": ["post": ["title": "First"]]])
    }

    @Test func logContainsOnlyRequestsOfOneTest() async throws {
        _ = try await client.send(post("{ posts { id } }", to: "/graphql", test: "one"))
        _ = try await client.send(post("{ posts { title } }", to: "/graphql", test: "another"))
        let requests = try await GraphQLServer.shared.log(of: "one")["requests"]
        #expect(requests?.array?.count == 1)
        #expect(requests?[0]?["body"]?.string == #"{"query":"{ posts { id } }"}"#)
    }

    private func post(_ query: String, to path: String, test: String = "") async throws -> Request {
        let body: JSONValue = ["query": .string(query)]
        return Request(
            url: try await GraphQLServer.shared.url(path),
            type: .rawRequest(Request.RequestData(method: "POST", body: body)),
            additionalData: HttpAdditionalData(headers: ["Content-Type": "application/json", "X-Test": test])
        )
    }
}
