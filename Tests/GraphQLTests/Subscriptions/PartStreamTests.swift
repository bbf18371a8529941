import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Subscriptions over bodies of parts.
@Suite(.leavesNothing, .timeLimit(.minutes(1))) struct PartStreamTests {
    private static let type = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json"
    private static let part =
        "\r\nContent-Type: application/json\r\n\r\n{\"payload\":{\"data\":{\"count\":1}}}\r\n--graphql"

    private static let resultsArguments: [String] = [
        "--graphql\(part)\(part)--",
        // Heartbeats, and what Strawberry writes: a first part that nothing begins, and a last of nothing.
        """
        \r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}\r\n--graphql\(part)\
        \r\n\r\n{}\r\n--graphql\(part)\r\n--graphql--\r\n
        """,
        "--graphql\(part)\r\n\r\n{ \"payload\": null }\r\n--graphql\(part)\r\n\r\n{\"payload\":null,\"errors\":[]}\r\n--graphql--",
        // What is not wrapped is a result itself.
        "--graphql\r\n\r\n{\"data\":{\"count\":1}}\r\n--graphql\(part)--",
    ]

    @Test(
        "results are what parts have as payload",
        arguments: Self.resultsArguments
    )
    func results(text: String) async throws {
        let world = try SubscriptionWorld([.multipart], answers: .parts(text))
        let heard = try await world.heard()
        #expect(heard.events == ["open", #"{"count":1}"#, #"{"count":1}"#])
        #expect(heard.error == nil)
        let request = try #require(world.server.requests.first)
        #expect(request.method == "POST")
        #expect(
            request.values(of: "Accept") == [
                "multipart/mixed;boundary=\"graphql\";subscriptionSpec=1.0, application/graphql-response+json, "
                    + "application/json;q=0.9"
            ]
        )
    }

    @Test(
        "an error of the connection's ends it",
        arguments: [("null", ["open"]), (#"{"data":{"count":2}}"#, ["open", #"{"count":2}"#])]
    )
    func transportError(payload: String, expected: [String]) async throws {
        let part = "{\"payload\":\(payload),\"errors\":[{\"message\":\"gone\",\"extensions\":{\"code\":\"SUBGRAPH\"}}]}"
        let world = try SubscriptionWorld([.multipart], answers: .parts("--graphql\r\n\r\n\(part)\r\n--graphql--"))
        let heard = try await world.heard()
        #expect(heard.events == expected)
        #expect(heard.error?.kind == .graphQL)
        #expect(heard.error?.graphQLErrors.map(\.message) == ["gone"])
        #expect(world.server.requests.count == 1)
    }

    @Test("a body that is cut is asked for again", arguments: [true, false]) func cut(isReset: Bool) async throws {
        let begun = LoopbackServer.Answer.begun("--graphql" + Self.part, type: Self.type)
        let world = try SubscriptionWorld(
            [.multipart],
            answers: isReset ? .sequence([begun, .reset]) : .parts("--graphql" + Self.part),
            .parts("--graphql\(Self.part)--")
        )
        let heard = try await world.heard()
        #expect(heard.events.filter { !$0.hasPrefix("lost") } == ["open", #"{"count":1}"#, "open", #"{"count":1}"#])
        #expect(heard.events.count == 5)
        #expect(heard.error == nil)
    }

    @Test("a part that is none ends it", arguments: ["[1]", "{\"payload\":", "no"])
    func broken(text: String) async throws {
        let world = try SubscriptionWorld([.multipart], answers: .parts("--graphql\r\n\r\n\(text)\r\n--graphql--"))
        let heard = try await world.heard()
        #expect(heard.events == ["open"])
        #expect(heard.error?.kind == .decoding)
        #expect(world.server.requests.count == 1)
    }

    @Test func aBodyWithoutBoundaryIsBroken() async throws {
        let world = try SubscriptionWorld(
            [.multipart],
            answers: .response(200, ["Content-Type": "multipart/mixed"], "x")
        )
        #expect(try await world.heard().error?.kind == .protocol)
    }

    @Test func leavingEndsTheTransfer() async throws {
        let world = try SubscriptionWorld(
            [.multipart],
            answers: .sequence([.begun("--graphql" + Self.part, type: Self.type), .stall])
        )
        _ = await Heard(try world.subscription().events, upTo: 2)
        #expect(await world.server.until { $0.openConnections == 0 })
    }
}
