import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// `GraphQLEndpoint.maxMessageBytes` for all transports except WebSockets, which `SocketFaultTests` covers.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct MessageLimitTests {
    /// Returns results with these sizes, in bytes.
    private static func results(_ sizes: [Int]) -> [String] {
        sizes.map { size in
            let frame = #"{"data":{"text":""}}"#
            return #"{"data":{"text":"\#(String(repeating: "a", count: size - frame.utf8.count))"}}"#
        }
    }

    private static func answer(_ way: GraphQLEndpoint.SubscriptionTransport, _ sizes: [Int]) -> LoopbackServer.Response
    {
        let results = results(sizes)
        switch way {
        case .multipart:
            return .parts(
                results.map { "--graphql\r\n\r\n{\"payload\":\($0)}\r\n" }.joined() + "--graphql--"
            )
        case .events(.distinct):
            return .events(results.map { "event: next\ndata: \($0)\n\n" }.joined() + "event: complete\ndata:\n\n")
        case .events(.single):
            let text = results.map { "event: next\ndata: {\"id\":\"1\",\"payload\":\($0)}\n\n" }.joined()
            return .sequence([.begun(text + "event: complete\ndata: {\"id\":\"1\"}\n\n"), .stall])
        case .webSocket: return .close
        }
    }

    private func received(_ way: GraphQLEndpoint.SubscriptionTransport, _ sizes: [Int], limit: Int) async throws
        -> EventTexts
    {
        var fixture = try SubscriptionFixture([way]) { request in
            switch (way, request.method) {
            case (.events(.single), "PUT"): .response(201, ["Connection": "close"], "token")
            case (.events(.single), "POST"): .response(202, ["Connection": "close"])
            default: Self.answer(way, sizes)
            }
        }
        fixture.endpoint.maxMessageBytes = limit
        return try await fixture.received()
    }

    @Test(arguments: [GraphQLEndpoint.SubscriptionTransport.events(), .events(.single), .multipart])
    func tooLargeMessageEndsTheSubscriptionAndNamesTheLimit(way: GraphQLEndpoint.SubscriptionTransport) async throws {
        let received = try await received(way, [200, 3000], limit: 1000)
        #expect(received.events.count == 2)
        #expect(received.error?.kind == .tooLarge)
        #expect(received.error?.message == "a message of the subscription is larger than the 1000 bytes allowed")
        #expect(received.error?.advice?.contains("GraphQLEndpoint.maxMessageBytes") == true)
    }

    @Test(arguments: [GraphQLEndpoint.SubscriptionTransport.events(), .events(.single), .multipart])
    func messageBelowTheLimitIsDelivered(way: GraphQLEndpoint.SubscriptionTransport) async throws {
        let received = try await received(way, [200, 900], limit: 1000)
        #expect(received.events.count == 3)
        #expect(received.error == nil)
    }

    @Test func singleJSONResponseHasTheSameLimit() async throws {
        var fixture = try SubscriptionFixture(answers: .json(Self.results([2000])[0]))
        fixture.endpoint.maxMessageBytes = 1000
        let received = try await fixture.received()
        #expect(received.error?.kind == .tooLarge)
        #expect(received.error?.advice?.contains("GraphQLEndpoint.maxMessageBytes") == true)
    }

    @Test(arguments: [0, -1]) func nonpositiveLimitIsABadConfiguration(limit: Int) async throws {
        var fixture = try SubscriptionFixture(answers: .events(events(1...1)))
        fixture.endpoint.maxMessageBytes = limit
        let received = try await fixture.received()
        #expect(received.error?.kind == .badConfiguration)
        #expect(received.error?.message == "GraphQLEndpoint.maxMessageBytes is \(limit)")
        #expect(fixture.server.requests.isEmpty)
    }
}
