import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Testing

/// The other interceptors with every kind of operation, on the wire.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct PipelineTests {
    // MARK: - Deadlines

    @Test(arguments: WireKind.allCases) func deadlineCancelsAllAttempts(kind: WireKind) async throws {
        let clock = ManualClock()
        let fixture = try WireFixture(
            WireServer([.stall]),
            clock: clock,
            DeadlineInterceptor(limit: .seconds(5)),
            WireFixture.retry
        )
        async let outcome = fixture.outcome(kind)
        await fixture.server.waitForRequests(1)
        await clock.waitForSleepers(kind.isBatch ? 2 : 1)
        clock.advance(by: .seconds(5))
        let error = await outcome.failure
        #expect(error?.isTimeout == true)
        #expect(error?.message.contains("deadline of 5.0 seconds") == true)
        #expect(error?.mayHaveReachedServer == true)
        // An operation over a shared stream is not cancelled on the server before its response.
        if kind != .sharedEvents { await fixture.server.hasReceived(kind) }
        #expect(fixture.server.count == 1)
    }

    // MARK: - Coalescing

    @Test(arguments: WireKind.allCases.filter { !$0.isBatch && $0 != .deferred })
    func identicalOperationsAreCoalescedUnlessTheyAreMutations(kind: WireKind) async throws {
        let gate = try LoopbackServer.Gate()
        let fixture = try WireFixture(WireServer([.gate(gate), .gate(gate)]))
        let values = AsyncStream.makeStream(of: String.self)
        for number in 1...2 {
            fixture.client.watch(try fixture.networkOperation(kind)) { event in
                guard case .result(let result) = event, let response = result.response else { return }
                values.continuation.yield(String(decoding: response.data, as: UTF8.self))
            }
            let isShared = kind.operationKind != .mutation
            // Over a WebSocket, the server reads the second operation after it has completed the first.
            await fixture.server.waitForRequests(isShared || kind.isSocket ? 1 : number)
        }
        gate.open()
        var received: [String] = []
        for await value in values.stream {
            received.append(value)
            if received.count == 2 { break }
        }
        #expect(Set(received) == [#"{"data":{"v":"- -"}}"#])
        #expect(fixture.server.count == (kind.operationKind == .mutation ? 2 : 1))
    }

    // MARK: - Transformations

    /// Transforms the request body, if there is one, and every response, as encryption would.
    @Test(arguments: WireKind.allCases) func requestAndResponseBodiesAreTransformed(kind: WireKind) async throws {
        let cipher = TransformInterceptor { message in
            guard let body = try await message.body?.collect(), message.head.headerFields[.contentType] != nil else {
                return
            }
            let text = String(decoding: body, as: UTF8.self)
            message.body = HTTPBody(text.replacing(#""id":"1"#, with: #""id":"sealed"#))
        } response: { response in
            let text = String(decoding: response.data, as: UTF8.self)
            response.data = Data(text.replacing("- -", with: "opened").utf8)
        }
        let fixture = try WireFixture(WireServer(), cipher)
        if kind == .deferred {
            #expect(await fixture.outcome(kind).failure?.kind == .unsupported)
            #expect(fixture.server.count == 0)
            return
        }
        #expect(try await fixture.ask(kind) == "opened")
        if kind == .get { return }
        let bodies = fixture.server.requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies.contains { $0.contains(#""id":"sealed"#) })
    }

    // MARK: - Rates and circuits

    @Test(arguments: WireKind.allCases) func rateLimitIsRespected(kind: WireKind) async throws {
        let clock = ManualClock()
        let limit = RateLimitInterceptor(kind.isBatch ? 2 : 1, per: .seconds(1))
        let fixture = try WireFixture(WireServer(), clock: clock, limit)
        _ = try await fixture.ask(kind)
        async let second = fixture.ask(kind, "2")
        await clock.waitForSleepers(1)
        #expect(fixture.server.count == 1)
        clock.advance(by: .seconds(1))
        #expect(try await second == "- -")
        #expect(fixture.server.count == 2)
    }

    @Test(arguments: WireKind.allCases) func repeatedFailuresOpenTheCircuit(kind: WireKind) async throws {
        let clock = ManualClock()
        // Each operation of a batch counts.
        let breaker = CircuitBreakerInterceptor(after: kind.isBatch ? 4 : 2, for: .seconds(30))
        let fixture = try WireFixture(WireServer([.status(503), .status(500)]), clock: clock, breaker)
        for number in 1...2 { #expect(await fixture.outcome(kind, "\(number)").failure?.kind == .status) }
        let error = await fixture.outcome(kind).failure
        #expect(error?.kind == .circuitOpen)
        #expect(error?.mayHaveReachedServer == false)
        #expect(fixture.server.count == 2)
        clock.advance(by: .seconds(30))
        guard !kind.isBatch else { return }
        #expect(try await fixture.ask(kind) == "- -")
    }

    // MARK: - Stored responses

    @Test(arguments: WireKind.allCases) func onlyQueryResponsesAreStored(kind: WireKind) async throws {
        let fixture = try WireFixture(WireServer(), CacheInterceptor())
        for _ in 1...2 { #expect(try await fixture.ask(kind) { $0.partition = "p" } == "- -") }
        let isStored = WireKind.queries.contains(kind) && kind != .deferred
        #expect(fixture.server.count == (isStored ? 1 : 2))
    }

    @Test(arguments: WireKind.allCases) func requestPolicyIsRespected(kind: WireKind) async throws {
        let fixture = try WireFixture(WireServer(), RequestPolicyInterceptor(), CacheInterceptor())
        let isQuery = WireKind.queries.contains(kind)
        let ask = { (policy: RequestPolicy) in
            await fixture.outcome(kind) {
                $0.policy = policy
                $0.partition = "p"
            }
        }
        let nothing = await ask(.cacheOnly).failure?.kind
        #expect(nothing == (isQuery ? .notStored : nil))
        let before = fixture.server.count
        for policy in [RequestPolicy.networkOnly, .networkFirst] { #expect(await ask(policy).failure == nil) }
        #expect(fixture.server.count == before + 2)
        // Incremental responses are not stored, and cacheOnly does not use the network.
        #expect(await ask(.cacheOnly).failure?.kind == (kind == .deferred ? .notStored : nil))
        #expect(fixture.server.count == before + (isQuery ? 2 : 3))
    }

    @Test(arguments: WireKind.allCases)
    func storedQueryResponseReplacesAFailedRequest(kind: WireKind) async throws {
        let fixture = try WireFixture(WireServer(), CacheInterceptor())
        let ask = {
            await fixture.outcome(kind) {
                $0.policy = .networkFirst
                $0.partition = "p"
            }
        }
        #expect(await ask().failure == nil)
        fixture.server.fail([.status(503)])
        #expect((await ask().failure == nil) == (WireKind.queries.contains(kind) && kind != .deferred))
    }

    // MARK: - Fields

    @Test(arguments: WireKind.allCases) func fieldsAreAddedOnlyForDeclaredOrigins(kind: WireKind) async throws {
        let language = HTTPField.Name("X-Language")!
        let other = try WireServer()
        let fixture = try WireFixture(WireServer(), HeadersInterceptor { _ in [language: "pt"] })
        #expect(try await fixture.ask(kind) == "- pt")
        #expect(try await fixture.ask(kind, at: other.url) == "- -")
    }

    @Test(arguments: WireKind.allCases)
    func credentialsDoNotFollowARedirectToAnotherOrigin(kind: WireKind) async throws {
        let other = try WireServer()
        let fixture = try WireFixture(WireServer(moved: other.url), Self.auth)
        _ = await fixture.outcome(kind)
        #expect(fixture.server.requests.map(\.authorization).first == "one")
        #expect(other.requests.allSatisfy { $0.authorization == nil })
        // A handshake is not redirected, and a shared stream belongs to the server that created it.
        if !kind.isSocket, kind != .sharedEvents { #expect(other.count == 1) }
    }

    private static var auth: AuthInterceptor<String> {
        AuthInterceptor(
            AuthInterceptor.Rules(
                load: { "one" },
                attach: { token, head in head.headerFields[.authorization] = token }
            )
        )
    }

    // Batches are excluded because a batch is sent with its own fields.
    @Test(arguments: WireKind.allCases.filter { !$0.isBatch })
    func originPolicyRemovesFieldsForOtherOrigins(kind: WireKind) async throws {
        let other = try WireServer()
        let fixture = try WireFixture(WireServer())
        fixture.dependencies.interceptors.replace(with: OriginPolicyInterceptor(scopedFields: [.authorization]))
        for (url, expected) in [(fixture.server.url, "mine -"), (other.url, "- -")] {
            #expect(try await fixture.ask(kind, headers: ["Authorization": "mine"], at: url) == expected)
        }
    }

    // MARK: - Batches

    @Test(arguments: [WireKind.socketQuery, .socketMutation])
    func operationsOverAWebSocketAreNotBatched(kind: WireKind) async throws {
        let fixture = try WireFixture(WireServer(), BatchInterceptor(limit: 2, clock: ManualClock()))
        async let first = fixture.ask(kind, "1")
        async let second = fixture.ask(kind, "2")
        #expect(try await [first, second] == ["- -", "- -"])
        let ids = try fixture.server.requests.map { try JSONValue(parsing: $0.body)["variables"]?["id"]?.string }
        #expect(Set(ids) == ["1", "2"])
    }

    // MARK: - Messages

    @Test(arguments: WireKind.sockets + [.query, .mutation, .events, .sharedEvents, .parts])
    func messageChangedByAnInterceptorReachesTheServer(kind: WireKind) async throws {
        let text = #"{"query":"\#(kind.document)","extensions":{"from":"here"}}"#
        let fixture = try WireFixture(WireServer(), TransformInterceptor { $0.body = HTTPBody(text) })
        #expect(try await fixture.ask(kind) == "- -")
        let body = try JSONValue(parsing: #require(fixture.server.requests.last?.body))
        #expect(body["extensions"]?["from"] == "here")
    }

    // MARK: - Statuses and logs

    @Test(arguments: WireKind.allCases) func errorStatusIsAStatusError(kind: WireKind) async throws {
        for code in [403, 429, 500] {
            let fixture = try WireFixture(WireServer([.status(code)]))
            let error = await fixture.outcome(kind).failure
            #expect(error?.kind == .status)
            #expect(error?.response?.status.code == code)
        }
    }

    @Test(arguments: WireKind.allCases, [LogInterceptor.Style.exchanges, .messages])
    func logNamesTheOperationAndContainsNoSecrets(kind: WireKind, style: LogInterceptor.Style) async throws {
        let fixture = try WireFixture(WireServer(), LogInterceptor(style))
        _ = try await fixture.ask(kind, "hunter2", headers: ["Authorization": "hunter2"])
        let messages = fixture.logger.messages
        #expect(!messages.isEmpty)
        #expect(messages.contains { $0.contains("\(kind.operationKind) Value") })
        if kind != .get { #expect(!messages.contains { $0.contains("hunter2") }) }
        #expect(!messages.contains { $0.contains("Authorization: hunter2") })
    }
}
