import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Subscriptions over multipart bodies.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct PartStreamTests {
    private static let type = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json"
    private static let part =
        "\r\nContent-Type: application/json\r\n\r\n{\"payload\":{\"data\":{\"count\":1}}}\r\n--graphql"

    private static let payloadsOfPartsAreResultsArguments: [String] = [
        "--graphql\(part)\(part)--",
        // Heartbeats, and Strawberry's format: a first part without a boundary before it and an empty last part.
        """
        \r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}\r\n--graphql\(part)\
        \r\n\r\n{}\r\n--graphql\(part)\r\n--graphql--\r\n
        """,
        "--graphql\(part)\r\n\r\n{ \"payload\": null }\r\n--graphql\(part)\r\n\r\n{\"payload\":null,\"errors\":[]}\r\n--graphql--",
        // A part without a payload wrapper is a result.
        "--graphql\r\n\r\n{\"data\":{\"count\":1}}\r\n--graphql\(part)--",
    ]

    @Test(arguments: Self.payloadsOfPartsAreResultsArguments)
    func payloadsOfPartsAreResults(text: String) async throws {
        let fixture = try SubscriptionFixture([.multipart], answers: .parts(text))
        let received = try await fixture.received()
        #expect(received.events == ["open", #"{"count":1}"#, #"{"count":1}"#])
        #expect(received.error == nil)
        let request = try #require(fixture.server.requests.first)
        #expect(request.method == "POST")
        #expect(
            request.values(of: "Accept") == [
                "multipart/mixed;boundary=\"graphql\";subscriptionSpec=1.0, application/graphql-response+json, "
                    + "application/json;q=0.9"
            ]
        )
    }

    @Test(arguments: [("null", ["open"]), (#"{"data":{"count":2}}"#, ["open", #"{"count":2}"#])])
    func transportErrorEndsTheSubscription(payload: String, expected: [String]) async throws {
        let part = "{\"payload\":\(payload),\"errors\":[{\"message\":\"gone\",\"extensions\":{\"code\":\"SUBGRAPH\"}}]}"
        let fixture = try SubscriptionFixture([.multipart], answers: .parts("--graphql\r\n\r\n\(part)\r\n--graphql--"))
        let received = try await fixture.received()
        #expect(received.events == expected)
        #expect(received.error?.kind == .graphQL)
        #expect(received.error?.graphQLErrors.map(\.message) == ["gone"])
        #expect(fixture.server.requests.count == 1)
    }

    @Test(arguments: [true, false]) func truncatedBodyIsRetried(isReset: Bool) async throws {
        let begun = LoopbackServer.Response.begun("--graphql" + Self.part, type: Self.type)
        let fixture = try SubscriptionFixture(
            [.multipart],
            answers: isReset ? .sequence([begun, .reset]) : .parts("--graphql" + Self.part),
            .parts("--graphql\(Self.part)--")
        )
        let received = try await fixture.received()
        #expect(received.events.filter { !$0.hasPrefix("lost") } == ["open", #"{"count":1}"#, "open", #"{"count":1}"#])
        #expect(received.events.count == 5)
        #expect(received.error == nil)
    }

    @Test(arguments: ["[1]", "{\"payload\":", "no"])
    func invalidPartEndsTheSubscription(text: String) async throws {
        let fixture = try SubscriptionFixture([.multipart], answers: .parts("--graphql\r\n\r\n\(text)\r\n--graphql--"))
        let received = try await fixture.received()
        #expect(received.events == ["open"])
        #expect(received.error?.kind == .decoding)
        #expect(fixture.server.requests.count == 1)
    }

    @Test func bodyWithoutABoundaryIsAProtocolError() async throws {
        let fixture = try SubscriptionFixture(
            [.multipart],
            answers: .response(200, ["Content-Type": "multipart/mixed"], "x")
        )
        #expect(try await fixture.received().error?.kind == .protocol)
    }

    @Test func leavingTheLoopEndsTheTransfer() async throws {
        let fixture = try SubscriptionFixture(
            [.multipart],
            answers: .sequence([.begun("--graphql" + Self.part, type: Self.type), .stall])
        )
        _ = await EventTexts(try fixture.subscription().events, upTo: 2)
        #expect(await fixture.server.until { $0.openConnections == 0 })
    }
}
