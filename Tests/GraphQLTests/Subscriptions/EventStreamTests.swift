import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Subscriptions with one event stream each.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct EventStreamTests {
    private static let next = #"event: next\#ndata: {"data":{"count":1}}\#n\#n"#

    @Test func secondIterationStartsWithoutLastEventID() async throws {
        let fixture = try SubscriptionFixture { _ in .events("id: 7\n" + events(1...1)) }
        let subscription = try fixture.subscription()
        for _ in 0..<2 {
            var count = 0
            for try await _ in subscription { count += 1 }
            #expect(count == 1)
        }
        #expect(fixture.server.requests.map { $0["Last-Event-ID"] } == [nil, nil])
    }

    @Test func retriedQueryStartsWithoutLastEventID() async throws {
        var fixture = try SubscriptionFixture(
            answers: .sequence([
                .raw(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\nevent: next\ndata: {\"data\":{\"a\":1}}\n\n"
                ), .close,
            ]),
            .events(events(2...2))
        )
        fixture.endpoint.kindsOverSubscriptionTransports.insert(.query)
        fixture.dependencies.interceptors.replace(with: RetryInterceptor(backoff: Backoff(base: .zero, limit: 3)))
        let response = try await fixture.client.response(to: GraphQLRequest(query: "{ count }"), at: fixture.endpoint)
        #expect(try JSONValue(parsing: response.data) == ["data": ["count": 2]])
        #expect(fixture.server.requests.map { $0["Last-Event-ID"] } == [nil, nil])
    }

    @Test func incompleteIncrementalResponseThrows() async throws {
        var fixture = try SubscriptionFixture(
            answers: .events("event: next\ndata: {\"data\":{\"a\":1},\"hasNext\":true}\n\nevent: complete\n\n")
        )
        fixture.endpoint.kindsOverSubscriptionTransports.insert(.query)
        fixture.dependencies.interceptors.removeAll { $0 is RetryInterceptor }
        let request = GraphQLRequest(query: "{ a ...F @defer } fragment F on Query { b }")
        let error = await #expect(throws: NetworkError.self) {
            try await fixture.client.response(to: request, at: fixture.endpoint)
        }
        #expect(error?.kind == .truncated)
    }

    @Test func resultsArriveUntilTheServerSendsComplete() async throws {
        let fixture = try SubscriptionFixture(answers: .events(": hello\n\n" + events(1...3)))
        let received = try await fixture.received()
        #expect(received.events == ["open", #"{"count":1}"#, #"{"count":2}"#, #"{"count":3}"#])
        #expect(received.error == nil)
        #expect(fixture.server.requests.count == 1)
        let request = try #require(fixture.server.requests.first)
        #expect(request.method == "POST")
        // Ariadne accepts no other value.
        #expect(request.values(of: "Accept") == ["text/event-stream"])
        #expect(request["Content-Type"] == "application/json")
        #expect(request["X-App"] == "demo")
        #expect(request["Last-Event-ID"] == nil)
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"query":"subscription Count { count }"}"#)
    }

    @Test func subscriptionIsSentInTheURLIfTheEndpointSaysSo() async throws {
        var fixture = try SubscriptionFixture(answers: .events("id: 7\n" + Self.next), .events(events(2...2)))
        fixture.endpoint.subscriptionMethod = .get
        let received = try await fixture.received()
        #expect(received.events == ["open", #"{"count":1}"#, "lost: truncated, 0", "open", #"{"count":2}"#])
        #expect(fixture.server.requests.map(\.method) == ["GET", "GET"])
        let request = try #require(fixture.server.requests.last)
        #expect(request.target == "/graphql?query=subscription%20Count%20%7B%20count%20%7D")
        #expect(request.values(of: "Accept") == ["text/event-stream"])
        #expect(request["GraphQL-Require-Preflight"] == "true")
        #expect(request["Content-Type"] == nil)
        #expect(request["X-App"] == "demo")
        #expect(request["Last-Event-ID"] == "7")
        #expect(request.body.isEmpty)
    }

    @Test func longSubscriptionIsSentInABody() async throws {
        var fixture = try SubscriptionFixture(answers: .events(events(1...1)))
        fixture.endpoint.subscriptionMethod = .get
        fixture.endpoint.maxURLBytes = 60
        #expect(try await fixture.received().error == nil)
        #expect(fixture.server.requests.map(\.method) == ["POST"])
    }

    @Test func mutationIsNeverSentInTheURL() async throws {
        var fixture = try SubscriptionFixture(answers: .events(events(1...1)))
        fixture.endpoint.subscriptionMethod = .get
        fixture.endpoint.kindsOverSubscriptionTransports = [.mutation]
        let request = GraphQLRequest(query: "mutation { count }", kind: .mutation)
        _ = try await fixture.client.response(to: request, at: fixture.endpoint)
        #expect(fixture.server.requests.map(\.method) == ["POST"])
    }

    @Test func queryIsPostedIfTheServerRejectsTheURLAsTooLong() async throws {
        var fixture = try SubscriptionFixture { request in
            request.method == "GET" ? .response(414) : .events(events(1...1))
        }
        fixture.endpoint.subscriptionMethod = .get
        fixture.endpoint.kindsOverSubscriptionTransports = [.query]
        let response = try await fixture.client.response(to: GraphQLRequest(query: "{ count }"), at: fixture.endpoint)
        #expect(try JSONValue(parsing: response.data)["data"]?["count"] == 1)
        #expect(fixture.server.requests.map(\.method) == ["GET", "POST"])
    }

    @Test(arguments: [GraphQLEndpoint.SubscriptionTransport.webSocket(), .events(.single), .multipart])
    func getWithAnotherTransportIsABadConfiguration(way: GraphQLEndpoint.SubscriptionTransport) async throws {
        var fixture = try SubscriptionFixture([.events(), way], answers: .events(events(1...1)))
        fixture.endpoint.subscriptionMethod = .get
        let error = #expect(throws: NetworkError.self) { try fixture.subscription() }
        #expect(error?.kind == .badConfiguration)
        #expect(fixture.server.requests.isEmpty)
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func anyLineEndingIsParsedBytewise(end: String) async throws {
        let text = Data(events(1...2).replacing("\n", with: end).utf8)
        let fixture = try SubscriptionFixture(
            answers: .chunked(text.map { Data([$0]) }, ["Content-Type": "text/event-stream"])
        )
        #expect(try await fixture.received().events == ["open", #"{"count":1}"#, #"{"count":2}"#])
    }

    @Test func completeEventMayHaveNoData() async throws {
        let fixture = try SubscriptionFixture(answers: .events(Self.next + "event: complete\n\n"))
        let received = try await fixture.received()
        #expect(received.events == ["open", #"{"count":1}"#])
        #expect(received.error == nil)
    }

    @Test func streamThatEndsWithoutCompleteIsRetried() async throws {
        let fixture = try SubscriptionFixture(answers: .events(Self.next), .events(events(2...2)))
        let received = try await fixture.received()
        #expect(received.events == ["open", #"{"count":1}"#, "lost: truncated, 0", "open", #"{"count":2}"#])
        #expect(received.error == nil)
    }

    @Test func lostConnectionIsReplaced() async throws {
        let fixture = try SubscriptionFixture(
            answers: .sequence([.begun(Self.next), .reset]),
            .sequence([.begun("event: next\ndata: {\"dat"), .close]),
            .events(events(2...2))
        )
        let received = try await fixture.received()
        #expect(received.events.count == 7)
        #expect(
            received.events.filter { !$0.hasPrefix("lost") } == [
                "open", #"{"count":1}"#, "open", "open", #"{"count":2}"#,
            ]
        )
        #expect(received.error == nil)
    }

    @Test func idleStreamTimesOutAndIsRetried() async throws {
        var fixture = try SubscriptionFixture(answers: .sequence([.begun(Self.next), .stall]), .events(events(2...2)))
        fixture.endpoint.options = TransferOptions(timeouts: TransferOptions.Timeouts(idle: .milliseconds(200)))
        let received = try await fixture.received()
        #expect(received.events == ["open", #"{"count":1}"#, "lost: timeout, 0", "open", #"{"count":2}"#])
    }

    @Test func subscriptionFailsAfterTooManyLosses() async throws {
        let fixture = try SubscriptionFixture(answers: .events(": nothing\n\n"))
        let received = try await fixture.received()
        #expect(received.events == ["open", "lost: truncated, 0", "open", "lost: truncated, 0", "open"])
        #expect(received.error?.kind == .truncated)
    }

    @Test func retrySendsTheLastEventID() async throws {
        let first = "id: a\n" + Self.next + "id: b\n\nid: c\nevent: next\ndata: {\"data\""
        let fixture = try SubscriptionFixture(
            answers: .events(first),
            .events(": none\n\n"),
            .events("id: ä\n" + Self.next),
            .events("id:\n" + Self.next),
            .events(events(2...2))
        )
        #expect(try await fixture.received().error == nil)
        // An id without data counts too, an unfinished event does not.
        #expect(fixture.server.requests.map { $0["Last-Event-ID"] } == [nil, "b", "b", "ä", nil])
    }

    @Test func retryFieldOfTheServerSetsTheDelay() async throws {
        let clock = ManualClock()
        let fixture = try SubscriptionFixture(answers: .events("retry: 7000\n\n" + Self.next), .events(events(2...2)))
        fixture.dependencies.clock = clock
        async let received = fixture.received()
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(7))
        clock.advance(by: .seconds(7))
        #expect(
            try await received.events == ["open", #"{"count":1}"#, "lost: truncated, 7000", "open", #"{"count":2}"#]
        )
    }

    @Test func tooLongRetryFieldIsCapped() async throws {
        let clock = ManualClock()
        let fixture = try SubscriptionFixture(answers: .events("retry: 900000\n\n"), .events(events(2...2)))
        fixture.retry(by: Backoff(base: .zero, maxServerDelay: .seconds(9), limit: 3))
        fixture.dependencies.clock = clock
        async let received = fixture.received()
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(9))
        clock.advance(by: .seconds(9))
        #expect(try await received.error == nil)
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func transientErrorStatusIsRetriedAfterRetryAfter(status: Int) async throws {
        let clock = ManualClock()
        let fixture = try SubscriptionFixture(
            answers: .response(status, ["Retry-After": "3", "Content-Type": "text/plain"], "busy"),
            .events(events(1...1))
        )
        fixture.dependencies.clock = clock
        async let received = fixture.received()
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(3))
        clock.advance(by: .seconds(3))
        #expect(try await received.events == ["lost: status, 3000", "open", #"{"count":1}"#])
    }

    @Test(arguments: [400, 401, 403, 409, 422, 505])
    func permanentErrorStatusEndsTheSubscription(status: Int) async throws {
        let fixture = try SubscriptionFixture(
            [.events(), .multipart],
            answers: .response(status, ["Content-Type": "text/plain"], "no")
        )
        let received = try await fixture.received()
        #expect(received.events == [])
        #expect(received.error?.kind == .status)
        #expect(received.error?.response?.status.code == status)
        #expect(received.error?.data == Data("no".utf8))
        #expect(received.error?.request?.method == .post)
        #expect(fixture.server.requests.count == 1)
    }

    @Test func rejectedCredentialsAreRenewed() async throws {
        let fixture = try SubscriptionFixture { request in
            request["Authorization"] == "new" ? .events(events(1...1)) : .response(401)
        }
        let rules = AuthInterceptor<String>.Rules(
            load: { "old" },
            renew: { _ in "new" },
            attach: { token, head in head.headerFields[.authorization] = token }
        )
        let url = try #require(URL(string: fixture.server.url))
        let origin = try #require(Origin(url))
        fixture.dependencies.interceptors.add(AuthInterceptor(rules, origins: [origin]))
        #expect(try await fixture.received().events == ["open", #"{"count":1}"#])
        #expect(fixture.server.requests.map { $0["Authorization"] } == ["old", "new"])
    }

    private static let operationErrorsTryNoOtherTransportArguments: [(Int, String, NetworkError.Kind)] = [
        (200, "application/json", NetworkError.Kind.graphQL), (400, "application/json", .status),
        (422, "application/graphql-response+json", .graphQL), (404, "application/graphql-response+json", .graphQL),
        (401, "application/graphql-response+json", .status), (404, "application/json", .status),
    ]

    @Test(arguments: Self.operationErrorsTryNoOtherTransportArguments)
    func operationErrorsTryNoOtherTransport(status: Int, type: String, kind: NetworkError.Kind) async throws {
        let body = #"{"errors":[{"message":"no such field","extensions":{"code":"BAD"}}]}"#
        let fixture = try SubscriptionFixture(
            [.events(), .multipart],
            answers: .json(body, status: status, type: type)
        )
        let received = try await fixture.received()
        #expect(received.events == [])
        #expect(received.error?.kind == kind)
        #expect(received.error?.graphQLErrors.map(\.code) == ["BAD"])
        #expect(received.error?.response?.status.code == status)
        #expect(fixture.server.requests.count == 1)
    }

    @Test func errorsOfAResultAreDeliveredWithIt() async throws {
        let text = """
            event: next\ndata: {"data":null,"errors":[{"message":"boom"}]}\n\n\
            event: next\ndata: {"data":{"count":null},"errors":[{"message":"bang"}]}\n\n
            """
        let fixture = try SubscriptionFixture(answers: .events(text + events(3...3)))
        #expect(try await fixture.received().events == ["open", "null boom", #"{"count":null} bang"#, #"{"count":3}"#])
    }

    @Test(
        arguments: ["application/json", "application/graphql-response+json; charset=utf-8"],
        [
            #"{"data":{"count":1}}"#, #"{"data":{"count":null}}"#,
            #"{"data":null,"errors":[{"message":"Cannot return null","path":["count"]}]}"#,
        ]
    )
    func subscriptionThatTheServerRunsAsAQueryIsUnsupported(type: String, body: String) async throws {
        let received = try await SubscriptionFixture(answers: .json(body, type: type)).received()
        #expect(received.events == [])
        #expect(received.error?.kind == .unsupported)
        #expect(received.error?.message.contains("it returned application/") == true)
    }

    @Test(
        arguments: [#"{"data":null,"errors":[{"message":"no"}]}"#, #"{"errors":[{"message":"no","path":["count"]}]}"#]
    )
    func errorsOfASubscriptionThatDidNotStartAreReported(body: String) async throws {
        let fixture = try SubscriptionFixture([.events(), .multipart], answers: .json(body))
        let received = try await fixture.received()
        #expect(received.error?.kind == .graphQL)
        #expect(received.error?.graphQLErrors.map(\.message) == ["no"])
        #expect(fixture.server.requests.count == 1)
    }

    @Test func status204EndsTheSubscription() async throws {
        let fixture = try SubscriptionFixture(answers: .events("id: 1\n" + Self.next), .response(204))
        let received = try await fixture.received()
        #expect(received.events == ["open", #"{"count":1}"#, "lost: truncated, 0"])
        #expect(received.error == nil)
        #expect(fixture.server.requests.count == 2)
    }

    private static let unsupportedEventStreamsFallBackToTheNextTransportArguments: [LoopbackServer.Response] = [
        LoopbackServer.Response.response(404), .response(405), .response(406, ["Content-Type": "text/plain"], "?"),
        .json(#"{"errors":[{"message":"accept header"}]}"#, status: 406), .response(415), .response(501),
        .response(200, ["Content-Type": "text/html"], "<html>"), .json(#"{"data":{"count":null}}"#), .json("[]"),
        .json("not JSON"), .json(""),
        .response(200, ["Content-Type": "application/json"], #"{"status":"ok"}"#),
    ]

    @Test(
        "the next transport is tried if the server doesn't support event streams, and the client remembers that",
        arguments: Self.unsupportedEventStreamsFallBackToTheNextTransportArguments
    )
    func unsupportedEventStreamsFallBackToTheNextTransport(answer: LoopbackServer.Response) async throws {
        let fixture = try SubscriptionFixture([.events(), .multipart]) { request in
            guard request["Accept"]?.hasPrefix("multipart/mixed") == true else { return answer }
            return .parts("--graphql\r\n\r\n{\"payload\":{\"data\":{\"count\":1}}}\r\n--graphql--")
        }
        for _ in 0..<2 { #expect(try await fixture.received().events == ["open", #"{"count":1}"#]) }
        #expect(fixture.server.requests.map { $0["Accept"]?.prefix(4) } == ["text", "mult", "mult"])
    }

    private static let mutationThatMayHaveRunIsNotSentOverAnotherTransportArguments: [(LoopbackServer.Response, Bool)] =
        [
            (LoopbackServer.Response.response(204), false),
            (.response(200, ["Content-Type": "text/plain"], "ok"), false),
            (.json(#"{"status":"ok"}"#), false), (.response(404), true), (.response(405), true), (.response(415), true),
        ]

    @Test(arguments: Self.mutationThatMayHaveRunIsNotSentOverAnotherTransportArguments)
    func mutationThatMayHaveRunIsNotSentOverAnotherTransport(answer: LoopbackServer.Response, goesOn: Bool) async throws
    {
        var fixture = try SubscriptionFixture([.multipart, .events()]) { request in
            request["Accept"]?.hasPrefix("multipart/mixed") == true ? answer : .events(events(1...1))
        }
        fixture.endpoint.kindsOverSubscriptionTransports = [.mutation]
        let request = GraphQLRequest(query: "mutation { count }", kind: .mutation)
        let (client, endpoint) = (fixture.client, fixture.endpoint)
        let outcome = await result { () throws(NetworkError) in try await client.response(to: request, at: endpoint) }
        switch outcome {
        case .success(let response):
            #expect(goesOn)
            #expect(try JSONValue(parsing: response.data) == ["data": ["count": 1]])
        case .failure(let error):
            #expect(!goesOn)
            #expect(error.kind == .unsupported)
            #expect(error.mayHaveReachedServer)
        }
        #expect(fixture.server.requests.count == (goesOn ? 2 : 1))
    }

    @Test func lastTransportErrorIsReportedAndAllAreTriedNextTime() async throws {
        let fixture = try SubscriptionFixture(
            [.events(), .multipart],
            answers: .json(#"{"errors":[{"message":"accept header"}]}"#, status: 406)
        )
        for _ in 0..<2 {
            let error = try await fixture.received().error
            #expect(error?.kind == .unsupported)
            #expect(error?.graphQLErrors.map(\.message) == ["accept header"])
            #expect(error?.response?.status.code == 406)
            #expect(error?.message.contains("it returned 406") == true)
        }
        #expect(fixture.server.requests.count == 4)
    }

    @Test func leavingTheLoopEndsTheTransfer() async throws {
        let fixture = try SubscriptionFixture(answers: .sequence([.begun(Self.next), .stall]))
        let received = await EventTexts(try fixture.subscription().events, upTo: 2)
        #expect(received.events == ["open", #"{"count":1}"#])
        #expect(await fixture.server.until { $0.openConnections == 0 })
    }

    @Test func cancellingTheTaskEndsTheTransfer() async throws {
        let fixture = try SubscriptionFixture(answers: .sequence([.begun(Self.next), .stall]))
        let begun = AsyncStream.makeStream(of: Void.self)
        let subscription = try fixture.subscription()
        let task = Task {
            do throws(NetworkError) {
                var iterator = subscription.makeAsyncIterator()
                while try await iterator.next() != nil { begun.continuation.yield() }
                return NetworkError.Kind?.none
            } catch {
                return error.kind
            }
        }
        for await _ in begun.stream { break }
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(await fixture.server.until { $0.openConnections == 0 })
    }

    @Test func queriesUseEventStreamsIfTheEndpointSaysSo() async throws {
        var fixture = try SubscriptionFixture(
            answers: .events(events(1...1)),
            .json(#"{"errors":[{"message":"no"}]}"#),
            .json(#"{"errors":[{"message":"no"}]}"#, status: 400)
        )
        fixture.endpoint.kindsOverSubscriptionTransports = [.query]
        let request = GraphQLRequest(query: "{ count }")
        let answer = try await fixture.client.response(to: request, at: fixture.endpoint)
        #expect(try JSONValue(parsing: answer.data) == ["data": ["count": 1]])
        #expect(fixture.server.requests.first?["Accept"] == "text/event-stream")
        let refused = try await fixture.client.response(to: request, at: fixture.endpoint)
        #expect(try JSONValue(parsing: refused.data)["errors"]?[0]?["message"] == "no")
        let error = await #expect(throws: NetworkError.self) {
            try await fixture.client.response(to: request, at: fixture.endpoint)
        }
        #expect(error?.kind == .status)
        #expect(error?.graphQLErrors.map(\.message) == ["no"])
    }

    @Test func subscriptionSendsItsTextDespiteAutomaticHashes() async throws {
        var fixture = try SubscriptionFixture(answers: .events(events(1...1)))
        fixture.endpoint.documentStyle = .automatic
        #expect(try await fixture.received().error == nil)
        let body = try JSONValue(parsing: try #require(fixture.server.requests.first).body)
        #expect(body["query"]?.string == SubscriptionFixture.query)
        #expect(body["extensions"] == nil)
    }

    @Test(arguments: [1, 2, 3, 4])
    func eventsWithIDsArriveOnceAndInOrderDespiteLostConnections(seed: UInt64) async throws {
        let chance = Lock(SeededGenerator(seed: seed))
        let last = 10_000
        let fixture = try SubscriptionFixture { request in
            let first = (request["Last-Event-ID"].flatMap { Int($0) } ?? 0) + 1
            return chance.withLock { chance in
                let count = Int.random(in: 1...400, using: &chance)
                let end = min(last, first + count)
                var text = (first..<end + 1).map {
                    "id: \($0)\nevent: next\ndata: {\"data\":{\"count\":\($0)}}\n\n"
                }.joined()
                if end == last, Bool.random(using: &chance) { return .events(text + "event: complete\ndata:\n\n") }
                text = String(text.dropLast(Int.random(in: 0...60, using: &chance)))
                switch Int.random(in: 0..<3, using: &chance) {
                case 0: return .events(text)
                case 1: return .sequence([.begun(text), .reset])
                default: return .sequence([.begun(text), .close])
                }
            }
        }
        fixture.retry(by: Backoff(base: .zero))
        var (numbers, losses) = ([Int64](), 0)
        for try await event in try fixture.subscription(buffering: .failing(last)).events {
            switch event {
            case .response(let response): numbers.append(response.data?["count"]?.integer ?? 0)
            case .interrupted: losses += 1
            case .open, .dropped: break
            }
        }
        #expect(numbers == (1...10_000).map { Int64($0) })
        #expect(losses > 20)
    }

    // MARK: - Incremental results

    private static let pieces = [
        #"{"data":{"count":1},"pending":[{"id":"0","path":[]}],"hasNext":true}"#,
        #"{"incremental":[{"id":"0","data":{"late":2}}],"completed":[{"id":"0"}],"hasNext":false}"#,
    ]
    private static let inPieces = "subscription { count ... @defer { late } }"

    private static func event(_ id: Int, _ payload: String) -> String {
        "id: \(id)\nevent: next\ndata: \(payload)\n\n"
    }

    @Test(arguments: [GraphQLEndpoint.SubscriptionTransport.events(), .multipart])
    func incrementalResultsAreMergedSeparately(way: GraphQLEndpoint.SubscriptionTransport) async throws {
        let payloads = Self.pieces + [#"{"data":{"count":3},"hasNext":false}"#]
        let answer: LoopbackServer.Response =
            if case .multipart = way {
                .parts(payloads.map { "--graphql\r\n\r\n{\"payload\":\($0)}\r\n" }.joined() + "--graphql--")
            } else {
                .events(payloads.map { Self.event(1, $0) }.joined() + "event: complete\ndata:\n\n")
            }
        let received = try await SubscriptionFixture([way], answers: answer).received(Self.inPieces)
        #expect(received.events == ["open", #"{"count":1}"#, #"{"count":1,"late":2}"#, #"{"count":3}"#])
        #expect(received.error == nil)
    }

    @Test(arguments: [inPieces, "{ count ... @defer { late } }"])
    func misplacedPieceEndsTheOperation(query: String) async throws {
        let text =
            Self.event(1, Self.pieces[0]) + Self.event(2, #"{"incremental":[{"path":["no"],"data":{"late":2}}]}"#)
        var fixture = try SubscriptionFixture(answers: .sequence([.begun(text), .stall]))
        let error: NetworkError?
        if query == Self.inPieces {
            let received = try await fixture.received(query)
            #expect(received.events == ["open", #"{"count":1}"#])
            error = received.error
        } else {
            fixture.endpoint.kindsOverSubscriptionTransports = [.query]
            error = await #expect(throws: NetworkError.self) {
                try await fixture.client.response(to: GraphQLRequest(query: query), at: fixture.endpoint)
            }
        }
        #expect(error?.kind == .decoding)
        #expect(fixture.server.requests.count == 1)
        #expect(await fixture.server.until { $0.openConnections == 0 })
    }

    @Test func truncatedResultIsRequestedFromItsBeginning() async throws {
        let fixture = try SubscriptionFixture(
            answers: .events(Self.pieces.map { Self.event(1, $0) }.joined() + Self.event(2, Self.pieces[0])),
            .events(Self.event(3, Self.pieces[0]) + Self.event(4, Self.pieces[1]) + "event: complete\ndata:\n\n")
        )
        let received = try await fixture.received(Self.inPieces)
        let whole = [#"{"count":1}"#, #"{"count":1,"late":2}"#]
        #expect(received.events == ["open"] + whole + [whole[0], "lost: truncated, 0", "open"] + whole)
        #expect(fixture.server.requests.map { $0["Last-Event-ID"] } == [nil, "1"])
    }
}
