import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Testing

/// The other interceptors with every kind of operation, on the wire.
@Suite(.leavesNothing, .timeLimit(.minutes(1))) struct PipelineTests {
    // MARK: - Deadlines

    @Test(arguments: WireKind.allCases) func deadlineCancelsAllAttempts(kind: WireKind) async throws {
        let clock = ManualClock()
        let world = try WireWorld(
            WireServer([.stall]),
            clock: clock,
            DeadlineInterceptor(limit: .seconds(5)),
            WireWorld.retry
        )
        async let outcome = world.outcome(kind)
        await world.server.asked(1)
        await clock.sleepers(kind.isBatch ? 2 : 1)
        clock.advance(by: .seconds(5))
        let error = await outcome.failure
        #expect(error?.isTimeout == true)
        #expect(error?.message.contains("deadline of 5.0 seconds") == true)
        #expect(error?.mayHaveReachedServer == true)
        // An operation over a shared stream is not cancelled on the server before its response.
        if kind != .sharedEvents { await world.server.isTold(kind) }
        #expect(world.server.count == 1)
    }

    // MARK: - Coalescing

    @Test(arguments: WireKind.allCases.filter { !$0.isBatch && $0 != .deferred })
    func identicalOperationsAreCoalescedUnlessTheyAreMutations(kind: WireKind) async throws {
        let gate = try LoopbackServer.Gate()
        let world = try WireWorld(WireServer([.gate(gate), .gate(gate)]))
        let values = AsyncStream.makeStream(of: String.self)
        for number in 1...2 {
            world.client.watch(try world.networkOperation(kind)) { event in
                guard case .result(let result) = event, let response = result.response else { return }
                values.continuation.yield(String(decoding: response.data, as: UTF8.self))
            }
            let isShared = kind.operationKind != .mutation
            // Over a WebSocket, the server reads the second operation after it has completed the first.
            await world.server.asked(isShared || kind.isSocket ? 1 : number)
        }
        gate.open()
        var heard: [String] = []
        for await value in values.stream {
            heard.append(value)
            if heard.count == 2 { break }
        }
        #expect(Set(heard) == [#"{"data":{"v":"- -"}}"#])
        #expect(world.server.count == (kind.operationKind == .mutation ? 2 : 1))
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
        let world = try WireWorld(WireServer(), cipher)
        if kind == .deferred {
            #expect(await world.outcome(kind).failure?.kind == .unsupported)
            #expect(world.server.count == 0)
            return
        }
        #expect(try await world.ask(kind) == "opened")
        if kind == .get { return }
        let bodies = world.server.asked.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies.contains { $0.contains(#""id":"sealed"#) })
    }

    // MARK: - Rates and circuits

    @Test(arguments: WireKind.allCases) func rateLimitIsRespected(kind: WireKind) async throws {
        let clock = ManualClock()
        let limit = RateLimitInterceptor(kind.isBatch ? 2 : 1, per: .seconds(1))
        let world = try WireWorld(WireServer(), clock: clock, limit)
        _ = try await world.ask(kind)
        async let second = world.ask(kind, "2")
        await clock.sleepers(1)
        #expect(world.server.count == 1)
        clock.advance(by: .seconds(1))
        #expect(try await second == "- -")
        #expect(world.server.count == 2)
    }

    @Test(arguments: WireKind.allCases) func repeatedFailuresOpenTheCircuit(kind: WireKind) async throws {
        let clock = ManualClock()
        // Each operation of a batch counts.
        let breaker = CircuitBreakerInterceptor(after: kind.isBatch ? 4 : 2, for: .seconds(30))
        let world = try WireWorld(WireServer([.status(503), .status(500)]), clock: clock, breaker)
        for number in 1...2 { #expect(await world.outcome(kind, "\(number)").failure?.kind == .status) }
        let error = await world.outcome(kind).failure
        #expect(error?.kind == .circuitOpen)
        #expect(error?.mayHaveReachedServer == false)
        #expect(world.server.count == 2)
        clock.advance(by: .seconds(30))
        guard !kind.isBatch else { return }
        #expect(try await world.ask(kind) == "- -")
    }

    // MARK: - Stored responses

    @Test(arguments: WireKind.allCases) func onlyQueryResponsesAreStored(kind: WireKind) async throws {
        let world = try WireWorld(WireServer(), CacheInterceptor())
        for _ in 1...2 { #expect(try await world.ask(kind) { $0.partition = "p" } == "- -") }
        let isStored = WireKind.queries.contains(kind) && kind != .deferred
        #expect(world.server.count == (isStored ? 1 : 2))
    }

    @Test(arguments: WireKind.allCases) func requestPolicyIsRespected(kind: WireKind) async throws {
        let world = try WireWorld(WireServer(), RequestPolicyInterceptor(), CacheInterceptor())
        let isQuery = WireKind.queries.contains(kind)
        let ask = { (policy: RequestPolicy) in
            await world.outcome(kind) {
                $0.policy = policy
                $0.partition = "p"
            }
        }
        let nothing = await ask(.cacheOnly).failure?.kind
        #expect(nothing == (isQuery ? .notStored : nil))
        let before = world.server.count
        for policy in [RequestPolicy.networkOnly, .networkFirst] { #expect(await ask(policy).failure == nil) }
        #expect(world.server.count == before + 2)
        // Incremental responses are not stored, and cacheOnly does not use the network.
        #expect(await ask(.cacheOnly).failure?.kind == (kind == .deferred ? .notStored : nil))
        #expect(world.server.count == before + (isQuery ? 2 : 3))
    }

    @Test(arguments: WireKind.allCases)
    func storedQueryResponseReplacesAFailedRequest(kind: WireKind) async throws {
        let world = try WireWorld(WireServer(), CacheInterceptor())
        let ask = {
            await world.outcome(kind) {
                $0.policy = .networkFirst
                $0.partition = "p"
            }
        }
        #expect(await ask().failure == nil)
        world.server.fail([.status(503)])
        #expect((await ask().failure == nil) == (WireKind.queries.contains(kind) && kind != .deferred))
    }

    // MARK: - Fields

    @Test(arguments: WireKind.allCases) func fieldsAreAddedOnlyForDeclaredOrigins(kind: WireKind) async throws {
        let language = HTTPField.Name("X-Language")!
        let other = try WireServer()
        let world = try WireWorld(WireServer(), HeadersInterceptor { _ in [language: "pt"] })
        #expect(try await world.ask(kind) == "- pt")
        #expect(try await world.ask(kind, at: other.url) == "- -")
    }

    @Test(arguments: WireKind.allCases)
    func credentialsDoNotFollowARedirectToAnotherOrigin(kind: WireKind) async throws {
        let other = try WireServer()
        let world = try WireWorld(WireServer(moved: other.url), Self.auth)
        _ = await world.outcome(kind)
        #expect(world.server.asked.map(\.authorization).first == "one")
        #expect(other.asked.allSatisfy { $0.authorization == nil })
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
        let world = try WireWorld(WireServer())
        world.dependencies.interceptors.replace(with: OriginPolicyInterceptor(scopedFields: [.authorization]))
        for (url, expected) in [(world.server.url, "mine -"), (other.url, "- -")] {
            #expect(try await world.ask(kind, headers: ["Authorization": "mine"], at: url) == expected)
        }
    }

    // MARK: - Batches

    @Test(arguments: [WireKind.socketQuery, .socketMutation])
    func operationsOverAWebSocketAreNotBatched(kind: WireKind) async throws {
        let world = try WireWorld(WireServer(), BatchInterceptor(limit: 2, clock: ManualClock()))
        async let first = world.ask(kind, "1")
        async let second = world.ask(kind, "2")
        #expect(try await [first, second] == ["- -", "- -"])
        let ids = try world.server.asked.map { try JSONValue(parsing: $0.body)["variables"]?["id"]?.string }
        #expect(Set(ids) == ["1", "2"])
    }

    // MARK: - Messages

    @Test(arguments: WireKind.sockets + [.query, .mutation, .events, .sharedEvents, .parts])
    func messageChangedByAnInterceptorReachesTheServer(kind: WireKind) async throws {
        let text = #"{"query":"\#(kind.document)","extensions":{"from":"here"}}"#
        let world = try WireWorld(WireServer(), TransformInterceptor { $0.body = HTTPBody(text) })
        #expect(try await world.ask(kind) == "- -")
        let body = try JSONValue(parsing: #require(world.server.asked.last?.body))
        #expect(body["extensions"]?["from"] == "here")
    }

    // MARK: - Statuses and logs

    @Test(arguments: WireKind.allCases) func errorStatusIsAStatusError(kind: WireKind) async throws {
        for code in [403, 429, 500] {
            let world = try WireWorld(WireServer([.status(code)]))
            let error = await world.outcome(kind).failure
            #expect(error?.kind == .status)
            #expect(error?.response?.status.code == code)
        }
    }

    @Test(arguments: WireKind.allCases, [LogInterceptor.Style.exchanges, .messages])
    func logNamesTheOperationAndContainsNoSecrets(kind: WireKind, style: LogInterceptor.Style) async throws {
        let world = try WireWorld(WireServer(), LogInterceptor(style))
        _ = try await world.ask(kind, "hunter2", headers: ["Authorization": "hunter2"])
        let messages = world.logger.messages
        #expect(!messages.isEmpty)
        #expect(messages.contains { $0.contains("\(kind.operationKind) Value") })
        if kind != .get { #expect(!messages.contains { $0.contains("hunter2") }) }
        #expect(!messages.contains { $0.contains("Authorization: hunter2") })
    }
}
