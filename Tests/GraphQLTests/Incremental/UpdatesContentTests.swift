import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// The data and errors of responses that may be incremental.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct UpdatesContentTests {
    private let client = NetworkClientDefault(dependencies: BeagleDependencies())

    /// Returns the responses to lines that the server sends one by one, each after the update for the previous one.
    private func values<Output: Decodable & Sendable>(
        of lines: [String],
        as type: Output.Type
    ) async throws -> [GraphQLResponse<Output>] {
        let gates = try lines.map { _ in try LoopbackServer.Gate() }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/jsonl\r\n\r\n"
        let parts = zip(lines, gates).flatMap { line, gate -> [LoopbackServer.Response] in
            [.raw(line + "\n"), .gate(gate)]
        }
        let server = try LoopbackServer(.sequence([.raw(head)] + parts + [.close]))
        defer { for gate in gates { gate.open() } }
        let operation = GraphQLOperation<NoInput, Output>.document("{ ... @defer { post { id title } } }")
        var responses: [GraphQLResponse<Output>] = []
        for try await update in try client.results(of: operation, at: GraphQLEndpoint(server.url)) {
            responses.append(update.response)
            #expect(update.hasNext == (responses.count < lines.count))
            gates[responses.count - 1].open()
        }
        return responses
    }

    private static let deferred = [
        #"{"data":{},"pending":[{"id":"0","path":[]}],"hasNext":true}"#,
        #"{"incremental":[{"id":"0","data":{"post":{"id":"1","title":"T"}}}],"completed":[{"id":"0"}],"hasNext":false}"#,
    ]

    @Test func deferredRootFieldIsNilUntilItArrives() async throws {
        let post = Post(id: "1", title: "T")
        #expect(try await values(of: Self.deferred, as: Post.self).map(\.data) == [nil, post])
        #expect(try await values(of: Self.deferred, as: Post?.self).map(\.data) == [nil, post])
    }

    @Test func errorsBesideADeferredRootFieldAreReported() async throws {
        var lines = Self.deferred
        lines[0] = lines[0].replacing("{\"data\"", with: #"{"errors":[{"message":"half"}],"data""#)
        let responses = try await values(of: lines, as: Post.self)
        #expect(responses.map(\.data?.title) == [nil, "T"])
        #expect(responses.map { $0.errors.map(\.message) } == [["half"], ["half"]])
    }

    @Test func missingRootFieldThrows() async throws {
        let lines = [Self.deferred[0], #"{"completed":[{"id":"0"}],"hasNext":false}"#]
        let error = await #expect(throws: NetworkError.self) { _ = try await values(of: lines, as: Post.self) }
        #expect(error?.message == "the data has no field post")
    }

    /// The same behavior as that of `execute`.
    @Test(arguments: ["application/json", "application/jsonl"])
    func errorsBesideInvalidDataAreGraphQLErrors(type: String) async throws {
        let body = #"{"data":[],"errors":[{"message":"no"}]}"#
        let server = try LoopbackServer(.response(200, ["Content-Type": type], body + "\n"))
        let endpoint = GraphQLEndpoint(server.url)
        let error = await #expect(throws: NetworkError.self) {
            for try await _ in try client.results(of: .post("1"), at: endpoint) {}
        }
        #expect(error?.kind == .graphQL)
        #expect(error?.graphQLErrors.map(\.message) == ["no"])
        #expect(error?.response?.status == .ok)
        for try await update in try client.results(of: GraphQLRequest(query: "{ post }"), at: endpoint) {
            #expect(update.response.data == nil)
            #expect(update.response.errors.map(\.message) == ["no"])
            #expect(update.patches.map(\.errors) == [update.response.errors])
        }
    }

    private struct Big: Decodable, Sendable { let n: UInt64 }

    @Test func numbersInASingleEventKeepAllDigits() async throws {
        let payload = #"{"data":{"post":{"n":18446744073709551615}}}"#
        let server = try LoopbackServer(.events("event: next\ndata: \(payload)\n\nevent: complete\ndata:\n\n"))
        var endpoint = GraphQLEndpoint(server.url)
        endpoint.kindsOverSubscriptionTransports = [.query]
        endpoint.subscriptions = [.events()]
        let operation = GraphQLOperation<NoInput, Big>.document("{ post { n ... @defer { m } } }")
        #expect(try await client.perform(operation, at: endpoint).n == .max)
    }

    @Test(arguments: ["application/json", "application/jsonl"])
    func numbersInAWholeResponseKeepAllDigits(type: String) async throws {
        let body = #"{"data":{"post":{"n":18446744073709551615}},"hasNext":false}"#
        let server = try LoopbackServer(.response(200, ["Content-Type": type], body + "\n"))
        let operation = GraphQLOperation<NoInput, Big>.document("{ post { n } }")
        for try await update in try client.results(of: operation, at: GraphQLEndpoint(server.url)) {
            #expect(update.response.data?.n == .max)
            #expect(update.response.response.data.starts(with: body.utf8))
        }
    }

    @Test func endlessResponseHasALimit() async throws {
        let first = #"{"data":{"list":[]},"pending":[{"id":"0","path":["list"]}],"hasNext":true}"# + "\n"
        let item = #"{"incremental":[{"id":"0","items":["aaaaaaaaaaaaaaaaaaaa"]}],"hasNext":true}"# + "\n"
        let text = first + String(repeating: item, count: 20)
        let server = try LoopbackServer(
            .sequence([.raw("HTTP/1.1 200 OK\r\nContent-Type: application/jsonl\r\n\r\n" + text), .stall])
        )
        let updates = try client.results(
            of: GraphQLRequest(query: "{ list @stream }"),
            at: GraphQLEndpoint(server.url),
            maxPayloadBytes: 100
        )
        var count = 0
        let error = await #expect(throws: NetworkError.self) {
            for try await _ in updates { count += 1 }
        }
        #expect(error?.kind == .tooLarge)
        #expect(error?.message.contains("400 bytes") == true)
        // The first payload, and then pieces up to a total of four times the payload limit.
        #expect(count == 1 + (400 - (first.utf8.count - 1)) / (item.utf8.count - 1))
        #expect(await server.until { $0.openConnections == 0 })
    }
}
