import BeagleNetGraphQL
import BeagleNetTesting
import BeagleNetURLSession
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// GraphQL operations as requests for the app's own session.
@Suite(.timeLimit(.minutes(5))) struct GraphQLOperationTests {
    private struct Post: Decodable, Sendable, Equatable {
        let id: String
    }

    private let dependencies = BeagleDependencies()
    private let operation = GraphQLOperation<IDInput, Post>(
        input: IDInput(id: "a+b"),
        operationString: "query Post($id: ID!) { post(id: $id) { id } }"
    )

    init() {
        dependencies.networkClient = NetworkClientDefault(dependencies: dependencies)
    }

    /// Sends the operation with a session, and returns the received request and the result.
    private func sent(
        at endpoint: GraphQLEndpoint,
        to server: LoopbackServer
    ) async throws -> (LoopbackServer.Request, GraphQLResult<Post>) {
        let request = try Beagle.Scope(dependencies).run { try operation.getURLRequest(at: endpoint) }
        let data = try await withCheckedThrowingContinuation { continuation in
            let task = URLSession.shared.dataTask(with: request) { data, _, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(data ?? Data()))
            }
            task.resume()
        }
        return (try #require(server.requests.first), try JSONDecoder().decode(GraphQLResult<Post>.self, from: data))
    }

    /// Returns the GraphQL parameters of a request, from its URL or its body.
    private func parameters(
        of request: LoopbackServer.Request,
        in server: LoopbackServer
    ) throws -> [String: JSONValue] {
        if request.method == "POST" { return try #require(try JSONValue(parsing: request.body).object) }
        #expect(request.body.isEmpty)
        var parameters: [String: JSONValue] = [:]
        for item in try #require(URLComponents(string: server.url + request.target)?.queryItems) {
            let text = item.value ?? ""
            let value: JSONValue = try text.hasPrefix("{") ? JSONValue(parsing: text) : .string(text)
            parameters[item.name] = value
        }
        return parameters
    }

    private func answering() throws -> LoopbackServer {
        try LoopbackServer(.response(200, ["Content-Type": "application/json"], #"{"data":{"post":{"id":"1"}}}"#))
    }

    @Test func endpointOfTheCallOverridesThatOfTheContainer() async throws {
        let (server, other) = (try answering(), try answering())
        dependencies.graphQLEndpoint = GraphQLEndpoint(other.url)
        let (request, result) = try await sent(at: GraphQLEndpoint(server.url + "/own"), to: server)
        #expect(request.target == "/own")
        #expect(try JSONValue(parsing: request.body)["variables"] == ["id": "a+b"])
        #expect(result.object == Post(id: "1"))
        #expect(other.requests.isEmpty)
    }

    /// Without the client there is no second request with the text if the server doesn't know the hash.
    @Test(arguments: [GraphQLEndpoint.QueryMethod.post, .get])
    func queryTextIsSentWithItsHash(method: GraphQLEndpoint.QueryMethod) async throws {
        let server = try answering()
        var endpoint = GraphQLEndpoint(server.url + "/graphql")
        endpoint.documentStyle = .automatic
        endpoint.queryMethod = method
        let (request, result) = try await sent(at: endpoint, to: server)
        #expect(result.object == Post(id: "1"))
        #expect(request.method == (method == .get ? "GET" : "POST"))
        let parameters = try parameters(of: request, in: server)
        #expect(parameters["query"] == .string(operation.operationString))
        #expect(parameters["operationName"] == "Post")
        #expect(parameters["variables"] == ["id": "a+b"])
        #expect(parameters["extensions"]?["persistedQuery"]?["sha256Hash"]?.string?.count == 64)
    }

    @Test func typenamesAreAddedIfTheEndpointRequiresThem() async throws {
        let server = try answering()
        var endpoint = GraphQLEndpoint(server.url + "/graphql")
        endpoint.addsTypenames = true
        let (request, _) = try await sent(at: endpoint, to: server)
        let text = try GraphQLDocument.cached(operation.operationString).withTypenames
        #expect(text != operation.operationString)
        #expect(try parameters(of: request, in: server)["query"] == .string(text))
    }
}
