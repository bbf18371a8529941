import BeagleNet
import BeagleNetGraphQL
import BeagleNetTesting
import BeagleNetURLSession
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The article's operations, on our client and on `URLSession`, against real sockets.
struct ArticleTests {
    private let post = #"{"data":{"post":{"id":"1","title":"T","body":"B"}}}"#

    /// Performs an operation on a server that responds with this status and body.
    private func perform<Input, Output: Sendable>(
        _ operation: sending GraphQLOperation<Input, Output>,
        status: Int = 200,
        _ body: String
    ) async throws -> (result: Result<Output, any Error>, server: LoopbackServer) {
        let server = try LoopbackServer(.response(status, ["Content-Type": "application/json"], body))
        let dependencies = BeagleDependencies()
        dependencies.graphQLEndpoint = GraphQLEndpoint(server.url + "/api")
        let result: Result<Output, any Error> = await Beagle.Scope(dependencies).run {
            await withCheckedContinuation { continuation in
                performOperation(operation) { continuation.resume(returning: $0) }
            }
        }
        return (result, server)
    }

    @Test func postIsFetched() async throws {
        let (result, server) = try await perform(.fetchPost(withID: "1"), post)
        #expect(try result.get() == Post(id: "1", title: "T", body: "B"))
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.target == "/api")
        #expect(request["Content-Type"] == "application/json")
        let body = try JSONValue(parsing: request.body)
        #expect(body["variables"] == ["id": "1"])
        #expect(body["operationName"] == "Post")
    }

    @Test func postIsCreated() async throws {
        let body = #"{"data":{"createPost":{"id":"2","title":"a","body":"b"}}}"#
        let (result, _) = try await perform(Queries.create(NewPost(title: "a", body: "b")), body)
        #expect(try result.get().id == "2")
    }

    @Test func objectIsReturnedDespiteErrors() async throws {
        let body = #"{"errors":[{"message":"half"}],"data":{"post":{"id":"1","title":"T","body":"B"}}}"#
        let (result, _) = try await perform(.fetchPost(withID: "1"), body)
        #expect(try result.get().id == "1")
    }

    @Test func graphQLErrorsAreReported() async throws {
        let body = #"{"data":{"post":null},"errors":[{"message":"no such post"}]}"#
        let (result, _) = try await perform(.fetchPost(withID: "99"), body)
        guard case .failure(let error as NetworkError) = result else { return #expect(Bool(false), "\(result)") }
        #expect(error.graphQLErrors.map(\.message) == ["no such post"])
    }

    private static let otherResponsesAreFailuresArguments: [(Int, String)] = [
        (500, "<html>"), (200, ""), (200, "<html>"),
    ]

    @Test(arguments: Self.otherResponsesAreFailuresArguments)
    func otherResponsesAreFailures(status: Int, body: String) async throws {
        let (result, _) = try await perform(.fetchPost(withID: "1"), status: status, body)
        guard case .failure(let error as NetworkError) = result else { return #expect(Bool(false), "\(result)") }
        #expect(error.kind == (status == 500 ? .status : .decoding))
    }

    @Test func requestCanBeSentByTheAppsSession() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], post))
        let dependencies = BeagleDependencies()
        dependencies.graphQLEndpoint = GraphQLEndpoint(server.url + "/api")
        dependencies.networkClient = NetworkClientDefault(dependencies: dependencies)
        let request = try Beagle.Scope(dependencies).run {
            try GraphQLOperation.fetchPost(withID: "1").getURLRequest()
        }
        #expect(request.httpMethod == "POST")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
        let data = try await withCheckedThrowingContinuation { continuation in
            let task = URLSession.shared.dataTask(with: request) { data, _, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(data ?? Data()))
            }
            task.resume()
        }
        let result = try JSONDecoder().decode(GraphQLResult<Post>.self, from: data)
        #expect(result.object == Post(id: "1", title: "T", body: "B"))
        #expect(result.errorMessages.isEmpty)
    }

    @Test func missingEndpointIsAnError() async throws {
        let dependencies = BeagleDependencies()
        _ = Beagle.Scope(dependencies).run {
            #expect(throws: NetworkError.self) { try GraphQLOperation.fetchPost(withID: "1").getURLRequest() }
        }
    }

    private static let resultIsDecodedAsInTheArticleArguments: [(String, String, Int)] = [
        (#"{"data":{"post":{"id":"1","title":"T","body":"B"},"__typename":"Query"}}"#, "1", 0),
        (#"{"data":{"post":null},"errors":[{"message":"a"},{"path":["post"]}]}"#, "none", 2),
        (#"{"data":null,"errors":[{"message":"a"}]}"#, "none", 1),
        (#"{"errors":[{"message":"a"}]}"#, "none", 1),
        (#"{"data":{"post":{"id":"1","title":"T","body":"B"}},"errors":null}"#, "1", 0),
        (#"{"data":{"post":{"id":1}},"errors":[{"message":"a"}]}"#, "none", 1),
        (#"{"data":{"a":null,"b":null},"errors":[{"message":"a"},{"message":"b"}]}"#, "none", 2),
        (#"{"data":7,"errors":[{"message":"a"}]}"#, "none", 1),
    ]

    @Test(arguments: Self.resultIsDecodedAsInTheArticleArguments)
    func resultIsDecodedAsInTheArticle(body: String, id: String, errors: Int) throws {
        let result = try JSONDecoder().decode(GraphQLResult<Post>.self, from: Data(body.utf8))
        #expect(result.object?.id ?? "none" == id)
        #expect(result.errorMessages.count == errors)
    }

    private static let invalidObjectIsADecodingErrorArguments: [String] = [
        #"{"data":{"a":null,"b":null}}"#, #"{"data":null}"#, "{}", #"{"data":{"post":{"id":1}}}"#, #"{"data":7}"#,
        #"{"data":{"post":{"id":1}},"errors":[]}"#,
    ]

    @Test(arguments: Self.invalidObjectIsADecodingErrorArguments)
    func invalidObjectIsADecodingError(body: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(GraphQLResult<Post>.self, from: Data(body.utf8))
        }
    }
}
