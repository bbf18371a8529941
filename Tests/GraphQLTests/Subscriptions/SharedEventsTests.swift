import BeagleNetCurl
import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Operations that share one event stream.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct SharedEventsTests {
    private static let next1 = #"event: next\#ndata: {"id":"1","payload":{"data":{"count":1}}}\#n\#n"#
    private static let complete1 = "event: complete\ndata: {\"id\":\"1\"}\n\n"

    /// Responds by the method of the request, to each GET with the next stream. Only streams keep their connections.
    private func fixture(
        _ streams: LoopbackServer.Response...,
        ways: [GraphQLEndpoint.SubscriptionTransport] = [.events(.single)],
        post: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { _ in
            .response(202, ["Connection": "close"])
        }
    ) throws -> SubscriptionFixture {
        let left = Lock((streams: streams, token: 0))
        return try SubscriptionFixture(ways) { request in
            switch request.method {
            case "PUT":
                left.withLock { left in
                    left.token += 1
                    let fields: KeyValuePairs = ["Content-Type": "text/plain; charset=utf-8", "Connection": "close"]
                    return .response(201, fields, "token-\(left.token)")
                }
            case "GET": left.withLock { $0.streams.isEmpty ? .response(500) : $0.streams.removeFirst() }
            case "POST": post(request)
            default: .response(200, ["Connection": "close"])
            }
        }
    }

    private func methods(_ fixture: SubscriptionFixture) -> [String] { fixture.server.requests.map(\.method) }

    @Test func streamIsReservedAndOpenedBeforeTheOperationIsSent() async throws {
        let fixture = try fixture(.sequence([.begun(":\n\n" + Self.next1 + Self.complete1), .stall]))
        let received = try await fixture.received()
        #expect(received.events == ["open", #"{"count":1}"#])
        #expect(received.error == nil)
        // The scripted events may arrive before the operation is sent.
        #expect(await fixture.server.until { $0.requestCount == 3 })
        let requests = fixture.server.requests
        #expect(requests.map(\.method) == ["PUT", "GET", "POST"])
        #expect(requests.map { $0["X-GraphQL-Event-Stream-Token"] } == [nil, "token-1", "token-1"])
        #expect(requests.map { $0["X-App"] } == ["demo", "demo", "demo"])
        #expect(requests.map { $0["Content-Type"] } == [nil, nil, "application/json"])
        #expect(requests[1]["Accept"] == "text/event-stream")
        #expect(requests.allSatisfy { $0.target == "/graphql" })
        #expect(requests[0].body.isEmpty && requests[1].body.isEmpty)
        #expect(
            String(decoding: requests[2].body, as: UTF8.self)
                == #"{"query":"subscription Count { count }","extensions":{"operationId":"1"}}"#
        )
    }

    @Test(arguments: [["a": 1], [:]] as [[String: JSONValue]])
    func otherExtensionsAreKept(extensions: [String: JSONValue]) async throws {
        let fixture = try fixture(.sequence([.begun(Self.complete1), .stall]))
        let request = GraphQLRequest(query: SubscriptionFixture.query, kind: .subscription, extensions: extensions)
        #expect(await EventTexts(try fixture.client.subscribe(to: request, at: fixture.endpoint).events).error == nil)
        #expect(await fixture.server.until { $0.requestCount == 3 })
        let body = try JSONValue(parsing: try #require(fixture.server.requests.last).body)
        var expected = extensions
        expected["operationId"] = "1"
        #expect(body["extensions"] == .object(expected))
    }

    @Test func documentInTheURLPathIsSupported() async throws {
        var fixture = try fixture(.sequence([.begun(Self.complete1), .stall]))
        fixture.endpoint.documentStyle = .path
        let request = GraphQLRequest(documentID: "abc", kind: .subscription)
        #expect(await EventTexts(try fixture.client.subscribe(to: request, at: fixture.endpoint).events).error == nil)
        #expect(await fixture.server.until { $0.requestCount == 3 })
        let last = try #require(fixture.server.requests.last)
        #expect(last.target == "/graphql/abc")
        #expect(String(decoding: last.body, as: UTF8.self) == #"{"extensions":{"operationId":"1"}}"#)
    }

    @Test func operationsOfOneEndpointShareTheStream() async throws {
        let gates = [try LoopbackServer.Gate(), try LoopbackServer.Gate()]
        let results = [2, 1, 2, 9].map {
            "event: next\ndata: {\"id\":\"\($0)\",\"payload\":{\"data\":{\"count\":\($0)}}}\n\n"
        }
        let fixture = try fixture(
            .sequence([
                .begun(":\n\n"), .gate(gates[0]), .raw(LoopbackServer.Response.chunk(results.joined())),
                .gate(gates[1]),
                .raw(
                    LoopbackServer.Response.chunk(
                        "event: complete\ndata: {\"id\":\"2\"}\n\nevent: ping\ndata: x\n\n" + Self.complete1
                    )
                ), .stall,
            ])
        )
        var first = try fixture.subscription("subscription A { count }").events.makeAsyncIterator()
        #expect(try await first.next()?.words == "open")
        var second = try fixture.subscription("subscription B { count }").events.makeAsyncIterator()
        #expect(try await second.next()?.words == "open")
        gates[0].open()
        #expect(try await first.next()?.words == #"{"count":1}"#)
        #expect(try await second.next()?.words == #"{"count":2}"#)
        #expect(try await second.next()?.words == #"{"count":2}"#)
        gates[1].open()
        #expect(try await first.next() == nil)
        #expect(try await second.next() == nil)
        #expect(methods(fixture) == ["PUT", "GET", "POST", "POST"])
    }

    @Test func operationsWithOtherCredentialsUseAnotherStream() async throws {
        let stream = LoopbackServer.Response.sequence([.begun(Self.next1 + Self.complete1), .stall])
        var fixture = try fixture(stream, stream, stream)
        #expect(try await fixture.received().error == nil)
        #expect(await fixture.server.until { $0.requestCount == 3 })
        fixture.endpoint.headers["Authorization"] = "another"
        #expect(try await fixture.received().error == nil)
        #expect(await fixture.server.until { $0.requestCount == 6 })
        #expect(methods(fixture) == ["PUT", "GET", "POST", "PUT", "GET", "POST"])
        #expect(
            fixture.server.requests.map { $0["Authorization"] } == [nil, nil, nil, "another", "another", "another"]
        )
    }

    @Test func resultsMayArriveBeforeTheResponseToTheOperation() async throws {
        let gate = try LoopbackServer.Gate()
        let fixture = try fixture(.sequence([.begun(Self.next1 + Self.next1), .stall])) { _ in
            .sequence([.gate(gate), .response(202)])
        }
        var events = try fixture.subscription().events.makeAsyncIterator()
        var words: [String?] = []
        for _ in 0..<3 { words.append(try await events.next()?.words) }
        #expect(words == ["open", #"{"count":1}"#, #"{"count":1}"#])
        gate.open()
    }

    @Test(arguments: [(400, NetworkError.Kind.status), (200, .graphQL)])
    func rejectedOperationFailsAndOthersContinue(status: Int, kind: NetworkError.Kind) async throws {
        let gate = try LoopbackServer.Gate()
        let fixture = try fixture(
            .sequence([
                .begun(":\n\n"), .gate(gate), .raw(LoopbackServer.Response.chunk(Self.next1 + Self.complete1)), .stall,
            ]),
            ways: [.events(.single), .multipart]
        ) { request in
            String(decoding: request.body, as: UTF8.self).contains("wrong")
                ? .json(#"{"errors":[{"message":"no such field"}]}"#, status: status) : .response(202)
        }
        var first = try fixture.subscription().events.makeAsyncIterator()
        #expect(try await first.next()?.words == "open")
        let refused = try await fixture.received("subscription { wrong }")
        #expect(refused.events == [])
        #expect(refused.error?.kind == kind)
        #expect(refused.error?.graphQLErrors.map(\.message) == ["no such field"])
        gate.open()
        #expect(try await first.next()?.words == #"{"count":1}"#)
        #expect(try await first.next() == nil)
        #expect(methods(fixture) == ["PUT", "GET", "POST", "POST"])
    }

    @Test func lostStreamInterruptsAllOperationsAndTheyShareTheNext() async throws {
        let gate = try LoopbackServer.Gate()
        let ends = "event: complete\ndata: {\"id\":\"1\"}\n\nevent: complete\ndata: {\"id\":\"2\"}\n\n"
        let second = try LoopbackServer.Gate()
        let posts = Lock(0)
        let fixture = try fixture(
            .sequence([.begun(":\n\n"), .gate(gate), .close]),
            .sequence([.begun(":\n\n"), .gate(second), .raw(LoopbackServer.Response.chunk(ends)), .stall])
        ) { _ in
            let count = posts.withLock { posts in
                posts += 1
                return posts
            }
            // Both operations have been sent over the next stream.
            if count == 4 { second.open() }
            return .response(202)
        }
        var first = try fixture.subscription("subscription A { count }").events.makeAsyncIterator()
        #expect(try await first.next()?.words == "open")
        var other = try fixture.subscription("subscription B { count }").events.makeAsyncIterator()
        #expect(try await other.next()?.words == "open")
        gate.open()
        #expect(try await first.next()?.words.hasPrefix("lost: ") == true)
        #expect(try await other.next()?.words.hasPrefix("lost: ") == true)
        #expect(try await first.next()?.words == "open")
        #expect(try await other.next()?.words == "open")
        #expect(try await first.next() == nil)
        #expect(try await other.next() == nil)
        #expect(methods(fixture).filter { $0 == "PUT" }.count == 2)
        #expect(!methods(fixture).contains("DELETE"))
    }

    @Test func retryFieldOfTheServerSetsTheDelay() async throws {
        let clock = ManualClock()
        let fixture = try fixture(.events("retry: 7000\n\n"), .sequence([.begun(Self.complete1), .stall]))
        fixture.dependencies.clock = clock
        async let received = fixture.received()
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(7))
        clock.advance(by: .seconds(7))
        #expect(try await received.error == nil)
    }

    @Test func leavingTheLoopSendsDelete() async throws {
        let fixture = try fixture(.sequence([.begun(":\n\n"), .stall]))
        // The open event means that the server has accepted the operation.
        #expect(await EventTexts(try fixture.subscription().events, upTo: 1).events == ["open"])
        #expect(await fixture.server.until { $0.requests.contains { $0.method == "DELETE" } })
        let delete = try #require(fixture.server.requests.last)
        #expect(delete.target == "/graphql?operationId=1")
        #expect(delete["X-GraphQL-Event-Stream-Token"] == "token-1")
        #expect(delete["X-App"] == "demo")
        #expect(delete["Content-Type"] == nil)
    }

    @Test func deleteIsSentAfterThePendingResponse() async throws {
        let gate = try LoopbackServer.Gate()
        let fixture = try fixture(.sequence([.begun(Self.next1), .stall])) { _ in
            .sequence([.gate(gate), .response(202)])
        }
        // The first result arrives before the response.
        _ = await EventTexts(try fixture.subscription().events, upTo: 2)
        #expect(await fixture.server.until { $0.requests.contains { $0.method == "POST" } })
        #expect(!methods(fixture).contains("DELETE"))
        gate.open()
        #expect(await fixture.server.until { $0.requests.contains { $0.method == "DELETE" } })
    }

    @Test func idleStreamLingersAndThenCloses() async throws {
        let clock = ManualClock()
        let fixture = try fixture(
            .sequence([.begun(Self.next1 + Self.complete1 + "event: complete\ndata: {\"id\":\"2\"}\n\n"), .stall])
        )
        fixture.dependencies.clock = clock
        #expect(try await fixture.received().error == nil)
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(5))
        clock.advance(by: .seconds(4))
        // An operation that starts in time uses the stream and restarts the 5 seconds.
        var second = try fixture.subscription("subscription B { count }").events.makeAsyncIterator()
        #expect(try await second.next()?.words == "open")
        #expect(clock.nextWait == nil)
        _ = second
        second = try fixture.subscription("subscription C { count }").events.makeAsyncIterator()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        #expect(await fixture.server.until { $0.requestCount == 5 && $0.openConnections == 0 })
        #expect(methods(fixture) == ["PUT", "GET", "POST", "POST", "DELETE"])
        #expect(clock.nextWait == nil)
    }

    @Test func endedStreamDoesNotRetainTheTransport() async throws {
        let clock = ManualClock()
        weak var transport: CurlTransport?
        let server = try await {
            let fixture = try fixture(.sequence([.begun(Self.next1 + Self.complete1), .stall]))
            fixture.dependencies.clock = clock
            let curl = CurlTransport()
            transport = curl
            let client = NetworkClientDefault(dependencies: fixture.dependencies, transport: curl)
            let request = GraphQLRequest(query: SubscriptionFixture.query, kind: .subscription)
            let received = await EventTexts(try client.subscribe(to: request, at: fixture.endpoint).events)
            #expect(received.error == nil)
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(5))
            return fixture.server
        }()
        #expect(await server.until { $0.openConnections == 0 })
        while transport != nil { await Task.yield() }
    }

    private static let unsupportedSharedStreamFallsBackArguments: [(String, LoopbackServer.Response)] = [
        ("PUT", LoopbackServer.Response.response(405)), ("PUT", .response(404)), ("PUT", .response(400)),
        ("PUT", .response(501)), ("PUT", .response(200, ["Content-Type": "text/html"], "<html>")),
        ("PUT", .json(#"{"errors":[{"message":"POST or GET"}]}"#, status: 400)), ("PUT", .response(201)),
        ("PUT", .response(201, [:], "two words")), ("GET", .response(404)), ("GET", .json("{}")),
        ("POST", .response(405)),
    ]

    @Test(arguments: Self.unsupportedSharedStreamFallsBackArguments)
    func unsupportedSharedStreamFallsBack(method: String, answer: LoopbackServer.Response) async throws {
        let fixture = try SubscriptionFixture([.events(.single), .events()]) { request in
            if request.method == method, request["Accept"] != "text/event-stream" || method == "GET" { return answer }
            switch request.method {
            case "PUT": return .response(201, [:], "token")
            case "GET": return .sequence([.begun(":\n\n"), .stall])
            default: return .events(events(1...1))
            }
        }
        for _ in 0..<2 { #expect(try await fixture.received().events == ["open", #"{"count":1}"#]) }
        #expect(methods(fixture).filter { $0 == "PUT" }.count == 1)
    }

    @Test(arguments: ["PUT", "GET", "POST"])
    func authorizationErrorsDoNotFallBackToAnotherTransport(method: String) async throws {
        for (status, kind) in [(401, NetworkError.Kind.status), (403, .status)] {
            let fixture = try SubscriptionFixture([.events(.single), .events()]) { request in
                if request.method == method { return .response(status) }
                return request.method == "PUT" ? .response(201, [:], "t") : .sequence([.begun(":\n\n"), .stall])
            }
            let error = try await fixture.received().error
            #expect(error?.kind == kind)
            #expect(error?.response?.status.code == status)
        }
    }

    @Test func unknownTokenIsReplaced() async throws {
        let isFirst = Lock(true)
        let stream = LoopbackServer.Response.sequence([.begun(":\n\n" + Self.complete1), .stall])
        let fixture = try fixture(.sequence([.begun(":\n\n"), .stall]), stream) { _ in
            isFirst.withLock { isFirst in
                defer { isFirst = false }
                return .response(isFirst ? 404 : 202)
            }
        }
        let received = try await fixture.received()
        #expect(received.events == ["lost: network, 0", "open"])
        #expect(await fixture.server.until { $0.requestCount == 6 })
        #expect(methods(fixture) == ["PUT", "GET", "POST", "PUT", "GET", "POST"])
    }

    private static let malformedEventIsAProtocolErrorArguments: [String] = [
        "x", "[]", "{}", #"{"id":1,"payload":{}}"#, #"{"id":"1","payload":null}"#, #"{"id":"1"}"#,
    ]

    @Test(arguments: Self.malformedEventIsAProtocolErrorArguments)
    func malformedEventIsAProtocolError(data: String) async throws {
        let fixture = try fixture(.sequence([.begun("event: next\ndata: \(data)\n\n"), .stall]))
        #expect(try await fixture.received().error?.kind == .protocol)
    }

    @Test func forbiddenHandshakeFallsBackButIsNotRemembered() async throws {
        let fixture = try SubscriptionFixture([.webSocket(), .events()]) { request in
            request.method == "GET" ? .response(403) : .events(events(1...1))
        }
        for _ in 0..<2 { #expect(try await fixture.received().events == ["open", #"{"count":1}"#]) }
        #expect(fixture.server.requests.map(\.method) == ["GET", "POST", "GET", "POST"])
        let forbidding = try SubscriptionFixture([.webSocket(), .events()]) { request in
            .response(request.method == "GET" ? 403 : 405)
        }
        #expect(try await forbidding.received().error?.response?.status == .forbidden)
    }

    @Test func retiringConnectionsResetsUnsupportedTransports() async throws {
        let fixture = try SubscriptionFixture([.webSocket(), .events()]) { request in
            request.method == "GET" ? .response(404) : .events(events(1...1))
        }
        for _ in 0..<2 { _ = try await fixture.received() }
        fixture.endpoint.retireConnections()
        _ = try await fixture.received()
        #expect(fixture.server.requests.map(\.method) == ["GET", "POST", "POST", "GET", "POST"])
    }

    @Test func transportUnsupportedByOneServerIsTriedWithAnother() async throws {
        let fixtures = try (0..<2).map { _ in
            try SubscriptionFixture([.webSocket(), .events()]) { request in
                request.method == "GET" ? .response(404) : .events(events(1...1))
            }
        }
        var endpoint = fixtures[0].endpoint
        for fixture in fixtures {
            endpoint.target = fixture.endpoint.target
            for try await _ in try fixture.client.subscribe(
                to: GraphQLRequest(query: SubscriptionFixture.query, kind: .subscription),
                at: endpoint
            ) {}
        }
        #expect(fixtures.map { methods($0) } == [["GET", "POST"], ["GET", "POST"]])
    }

    @Test func unsupportedTransportIsTriedAgainAfterFiveMinutes() async throws {
        let fixture = try SubscriptionFixture([.webSocket(), .events()]) { request in
            request.method == "GET" ? .response(404) : .events(events(1...1))
        }
        let clock = ManualClock()
        fixture.dependencies.clock = clock
        for wait in [0, 299, 1] {
            clock.advance(by: .seconds(wait))
            #expect(try await fixture.received().error == nil)
        }
        #expect(fixture.server.requests.map(\.method) == ["GET", "POST", "POST", "GET", "POST"])
    }

    @Test func slowReaderOverflowsItsOwnBufferAndOthersContinue() async throws {
        let gate = try LoopbackServer.Gate()
        func next(_ id: Int, _ number: Int) -> String {
            "event: next\ndata: {\"id\":\"\(id)\",\"payload\":{\"data\":{\"count\":\(number)}}}\n\n"
        }
        let flood = (1...5000).map { next(1, $0) + next(2, $0) }.joined()
        let fixture = try fixture(
            .sequence([
                .begun(":\n\n"), .gate(gate),
                .raw(LoopbackServer.Response.chunk(flood + "event: complete\ndata: {\"id\":\"2\"}\n\n")), .stall,
            ])
        )
        var slow = try fixture.subscription("subscription A { count }", buffering: .failing(3)).events
            .makeAsyncIterator()
        #expect(try await slow.next()?.words == "open")
        var quick = try fixture.subscription("subscription B { count }", buffering: .failing(5000)).events
            .makeAsyncIterator()
        #expect(try await quick.next()?.words == "open")
        gate.open()
        var count = 0
        while try await quick.next() != nil { count += 1 }
        #expect(count == 5000)
        for number in 1...3 { #expect(try await slow.next()?.words == #"{"count":\#(number)}"#) }
        let error = await #expect(throws: NetworkError.self) { try await slow.next() }
        #expect(error?.kind == .tooLarge)
    }

    @Test func incrementalResultIsMergedForItsOperation() async throws {
        let payloads = [
            #"{"data":{"count":1},"pending":[{"id":"0","path":[]}],"hasNext":true}"#,
            #"{"incremental":[{"id":"0","data":{"late":2}}],"completed":[{"id":"0"}],"hasNext":false}"#,
        ]
        let text = payloads.map { "event: next\ndata: {\"id\":\"1\",\"payload\":\($0)}\n\n" }.joined()
        let fixture = try fixture(.sequence([.begun(text + Self.complete1), .stall]))
        let received = try await fixture.received("subscription { count ... @defer { late } }")
        #expect(received.events == ["open", #"{"count":1}"#, #"{"count":1,"late":2}"#])
        #expect(received.error == nil)
    }

    @Test func uploadsUseAnotherTransport() async throws {
        let fixture = try fixture(
            .sequence([.begun(":\n\n"), .stall]),
            ways: [.events(.single), .events()],
            post: { _ in .events(events(1...1)) }
        )
        var request = GraphQLRequest(
            query: "subscription($file: Upload!) { count(file: $file) }",
            kind: .subscription,
            variables: Data(#"{"file":null}"#.utf8)
        )
        try request.attach(FormFile(Data("x".utf8), filename: "x"), at: "variables.file")
        let received = await EventTexts(try fixture.client.subscribe(to: request, at: fixture.endpoint).events)
        #expect(received.events == ["open", #"{"count":1}"#])
        #expect(fixture.server.requests.map(\.method) == ["POST"])
        #expect(fixture.server.requests.last?["Content-Type"]?.hasPrefix("multipart/form-data") == true)
        var others = fixture.endpoint
        others.subscriptions = [.webSocket(), .events(.single)]
        let refused = await EventTexts(try fixture.client.subscribe(to: request, at: others).events)
        #expect(refused.error?.kind == .unsupported)
        #expect(fixture.server.requests.count == 1)
    }
}
