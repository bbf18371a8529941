import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// The end of incremental responses.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct UpdatesEndTests {
    private let dependencies = BeagleDependencies()
    private let clock = ManualClock()

    private func updates(_ server: LoopbackServer) throws -> GraphQLUpdates<JSONValue>.AsyncIterator {
        dependencies.clock = clock
        dependencies.logger = OffLogger()
        return try dependencies.networkClient
            .results(of: GraphQLRequest(query: "{ a }"), at: GraphQLEndpoint(server.url)).makeAsyncIterator()
    }

    @Test func invalidPayloadIsPartOfTheError() async throws {
        let server = try LoopbackServer(.sequence([.begun("data: <html>\n\n"), .stall]))
        var iterator = try updates(server)
        let error = await #expect(throws: NetworkError.self) { _ = try await iterator.next() }
        #expect(error?.kind == .decoding)
        #expect(error?.data == Data("<html>".utf8))
        #expect(error?.response?.status == .ok)
    }

    /// The two lines make one element of the typed sequence and two elements of the untyped one.
    @Test func missingAnnouncedPieceThrowsAfterTheReceivedPieces() async throws {
        let lines = """
            {"data":{"post":{"id":"1"}},"pending":[{"id":"0","path":["post"]},{"id":"1","path":[]}],"hasNext":true}
            {"incremental":[{"id":"0","data":{"title":"T"}}],"completed":[{"id":"0"}],"hasNext":false}

            """
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/jsonl"], lines))
        var iterator = try updates(server)
        #expect(try await iterator.next()?.response.data == ["post": ["id": "1"]])
        let last = try await iterator.next()
        #expect(last?.response.data == ["post": ["id": "1", "title": "T"]])
        #expect(last?.hasNext == true)
        let error = await #expect(throws: NetworkError.self) { _ = try await iterator.next() }
        #expect(error?.kind == .truncated)
        #expect(try await iterator.next() == nil)
        let operation = GraphQLOperation<NoInput, Post>.document("{ post { id title } }")
        var typed = try dependencies.networkClient.results(of: operation, at: GraphQLEndpoint(server.url))
            .makeAsyncIterator()
        #expect(try await typed.next()?.response.data?.title == "T")
        let typedError = await #expect(throws: NetworkError.self) { _ = try await typed.next() }
        #expect(typedError?.kind == .truncated)
    }

    private static let first = #"{"data":{"a":1},"hasNext":true}"#
    private static let wrong = #"{"incremental":[{"path":["nowhere"],"data":{}}],"hasNext":true}"#
    private static let part = "\r\n--b\r\nContent-Type: application/json\r\n\r\n"

    private static let brokenPieceIsPartOfTheErrorAfterTheReceivedPiecesArguments: [(String, String, String)] = [
        ("application/jsonl", "\(first)\n\(wrong)\n", wrong), ("application/jsonl", "\(first)\n{\"incr", "{\"incr"),
        ("text/event-stream", "data: \(first)\n\ndata: <html>\n\n", "<html>"),
        ("multipart/mixed; boundary=b", "\(part)\(first)\(part){\"incr\r\n--b--\r\n", "{\"incr"),
    ]

    @Test(arguments: Self.brokenPieceIsPartOfTheErrorAfterTheReceivedPiecesArguments)
    func brokenPieceIsPartOfTheErrorAfterTheReceivedPieces(type: String, body: String, kept: String) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": type], body))
        var iterator = try updates(server)
        #expect(try await iterator.next()?.response.data == ["a": 1])
        let error = await #expect(throws: NetworkError.self) { _ = try await iterator.next() }
        #expect(error?.kind == .decoding)
        #expect(error?.data == Data(kept.utf8))
        #expect(error?.response?.status == .ok)
        #expect(try await iterator.next() == nil)
    }

    private let last = "data: {\"data\":{\"a\":1},\"hasNext\":false}\n\n"

    @Test func missingEndOfTheBodyIsAwaitedForALimitedTime() async throws {
        let server = try LoopbackServer(.sequence([.begun(last), .stall]))
        var iterator = try updates(server)
        #expect(try await iterator.next()?.response.data == ["a": 1])
        let clock = clock
        async let advanced: Void = {
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(3))
        }()
        #expect(try await iterator.next() == nil)
        await advanced
        await server.until { $0.openConnections == 0 }
    }
}
