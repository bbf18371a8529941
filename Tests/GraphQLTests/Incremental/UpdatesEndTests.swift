import BeagleNetGraphQL
import BeagleNetTesting
import Foundation
import Testing

/// What becomes of an answer in pieces behind its last piece.
@Suite(.timeLimit(.minutes(1))) struct UpdatesEndTests {
    private let dependencies = BeagleDependencies()
    private let clock = ManualClock()

    private func updates(_ server: LoopbackServer) throws -> GraphQLUpdates<JSONValue>.AsyncIterator {
        dependencies.clock = clock
        dependencies.logger = OffLogger()
        return try dependencies.networkClient
            .results(of: GraphQLRequest(query: "{ a }"), at: GraphQLEndpoint(server.url)).makeAsyncIterator()
    }

    @Test func whatIsNoPayloadIsKept() async throws {
        let server = try LoopbackServer(.sequence([.begun("data: <html>\n\n"), .stall]))
        var iterator = try updates(server)
        let error = await #expect(throws: NetworkError.self) { _ = try await iterator.next() }
        #expect(error?.kind == .decoding)
        #expect(error?.data == Data("<html>".utf8))
        #expect(error?.response?.status == .ok)
    }

    private let last = "data: {\"data\":{\"a\":1},\"hasNext\":false}\n\n"

    @Test func anEndThatDoesNotComeIsWaitedForByTheClock() async throws {
        let server = try LoopbackServer(.sequence([.begun(last), .stall]))
        var iterator = try updates(server)
        #expect(try await iterator.next()?.response.data == ["a": 1])
        let clock = clock
        async let advanced: Void = {
            await clock.sleepers(1)
            clock.advance(by: .seconds(3))
        }()
        #expect(try await iterator.next() == nil)
        await advanced
        await server.until { $0.openConnections == 0 }
    }
}
