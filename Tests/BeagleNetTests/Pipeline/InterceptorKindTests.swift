import BeagleNet
import BeagleNetTesting
import Testing
import TestClients

/// The small interceptors, for each kind of operation.
@Suite(.beagle(), .timeLimit(.minutes(5))) struct InterceptorKindTests {
    /// The origin of `NetworkOperation.of(_:)`.
    private static let host: Set<Origin> = [Origin(scheme: "http", host: "host")]
    private static let elsewhere: Set<Origin> = [Origin(scheme: "http", host: "elsewhere")]
    private static let language = HTTPField.Name("X-Language")!
    private static let partner = HTTPField.Name("X-Partner")!

    /// The kinds that are one message to the transport.
    private static let messages: [NetworkOperation.Kind] = [.component, .image, .form, .raw, .query, .mutation]

    /// Whether responses of a kind may be stored.
    private func isStorable(_ kind: NetworkOperation.Kind) -> Bool {
        [NetworkOperation.Kind.component, .image, .query].contains(kind)
    }

    /// The operation that reaches the end of a pipeline with these interceptors.
    private func performed(
        _ operation: NetworkOperation,
        _ interceptors: any Interceptor...
    ) async throws -> NetworkOperation {
        let answers = ScriptedResponses(.success(.init("1")))
        Beagle.dependencies.interceptors = interceptors + [answers]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: ScriptedTransport())
        #expect(try await client.run(operation).shown == "1")
        #expect(answers.count == 1)
        return try #require(answers.operations.withLock { $0.first })
    }

    // MARK: - Headers

    @Test(arguments: NetworkOperation.Kind.known)
    func fieldsAreAddedAndExistingOnesKept(kind: NetworkOperation.Kind) async throws {
        let headers = HeadersInterceptor(origins: Self.host) { operation in
            [Self.language: operation.kind.name, .acceptLanguage: "pt"]
        }
        let fields = try await performed(.of(kind, headers: ["Accept-Language": "en"]), headers).transfer.head
            .headerFields
        #expect(fields[values: Self.language] == [kind.name])
        #expect(fields[values: .acceptLanguage] == ["en"])
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func fieldsAreSentToNamedOrElseDeclaredOrigins(kind: NetworkOperation.Kind) async throws {
        let origins: [(named: Set<Origin>?, base: String?, isMeant: Bool)] = [
            (Self.host, nil, true), (Self.host, "http://elsewhere", true), (Self.elsewhere, "http://host", false),
            (nil, "http://host/api", true), (nil, "http://elsewhere", false), (nil, "https://host", false),
            (nil, nil, true), ([], nil, false),
        ]
        for (named, base, isMeant) in origins {
            Beagle.dependencies.httpRequestBuilder.baseURL = base.flatMap { URL(string: $0) }
            let headers = HeadersInterceptor(origins: named) { _ in [Self.language: "pt"] }
            let transfer = try await performed(.of(kind), headers, OriginPolicyInterceptor()).transfer
            #expect(transfer.head.headerFields[Self.language] == (isMeant ? "pt" : nil), "\(base ?? "none")")
            #expect(transfer.originScopedFields.contains(Self.language) == isMeant, "\(base ?? "none")")
        }
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func credentialFieldWithoutDeclaredOriginsIsAnError(kind: NetworkOperation.Kind) async {
        let answers = ScriptedResponses(.success(.init("1")))
        let headers = HeadersInterceptor { _ in [.init("X-Api-Key")!: "s3cret"] }
        let result = await Result { try await client(headers, answers).run(.of(kind)) }
        #expect(result.failure?.kind == .badRequest)
        #expect(result.failure?.message.contains("X-Api-Key") == true)
        #expect(result.failure?.advice?.contains("base URL") == true)
        #expect(result.failure?.description.contains("s3cret") == false)
        #expect(answers.count == 0)
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func fieldsAreMadeForEachAttempt(kind: NetworkOperation.Kind) async throws {
        let withoutDelay = Backoff(base: .zero, limit: 3)
        let retry = RetryInterceptor(backoff: withoutDelay, subscriptionBackoff: withoutDelay)
        let headers = HeadersInterceptor(origins: Self.host) { operation in [Self.language: "\(operation.attempt)"] }
        let answers = ScriptedResponses(.failure(.refused), .success(.init("1")))
        _ = try await client(retry, headers, answers).run(.of(kind))
        let fields = answers.operations.withLock { $0.map(\.transfer.head.headerFields) }
        #expect(fields.map { $0[values: Self.language] } == [["1"], ["2"]])
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func errorWhileMakingFieldsFailsTheOperationUnsent(kind: NetworkOperation.Kind) async {
        struct Mine: Error {}
        let answers = ScriptedResponses(.success(.init("1")))
        let headers = HeadersInterceptor(origins: Self.host) { _ in throw Mine() }
        let result = await Result { try await client(headers, answers).run(.of(kind)) }
        #expect(result.failure?.underlying is Mine)
        #expect(answers.count == 0)
    }

    // MARK: - Origins

    @Test("a scoped field is kept for declared origins or without any", arguments: NetworkOperation.Kind.known)
    func originScopedFieldIsKeptForDeclaredOrigins(kind: NetworkOperation.Kind) async throws {
        let declared: [(base: String?, policy: OriginPolicyInterceptor, isKept: Bool)] = [
            (nil, .init(), true), ("http://host", .init(), true), ("http://elsewhere", .init(), false),
            ("http://elsewhere", .init(origins: Self.host), true),
            ("http://host", .init(origins: Self.elsewhere), false),
        ]
        for (base, policy, isKept) in declared {
            Beagle.dependencies.httpRequestBuilder.baseURL = base.flatMap { URL(string: $0) }
            let transfer = try await performed(.of(kind), Changing.adding(.authorization, "hunter2"), policy).transfer
            #expect(transfer.head.headerFields[.authorization] == (isKept ? "hunter2" : nil), "\(base ?? "none")")
            #expect(transfer.originScopedFields.contains(.authorization), "the field isn't dropped on redirects")
        }
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func scopedFieldsAreRemovedEvenIfTheRequestSetsThem(kind: NetworkOperation.Kind) async throws {
        let own: [(origins: Set<Origin>, isKept: Bool)] = [(Self.host, true), (Self.elsewhere, false), ([], true)]
        for (origins, isKept) in own {
            let policy = OriginPolicyInterceptor(origins: origins, scopedFields: [Self.partner])
            let operation = NetworkOperation.of(kind, headers: ["X-Partner": "1", "X-Other": "2"])
            let transfer = try await performed(operation, policy).transfer
            #expect(transfer.head.headerFields[Self.partner] == (isKept ? "1" : nil))
            #expect(transfer.head.headerFields[HTTPField.Name("X-Other")!] == "2")
            #expect(transfer.originScopedFields.contains(Self.partner))
        }
    }

    // MARK: - Status

    @Test(arguments: NetworkOperation.Kind.known, [200, 204, 299, 300, 304, 401, 403, 404, 500])
    func errorStatusIsAFailureWithTheResponse(kind: NetworkOperation.Kind, code: Int) async throws {
        let answers = ScriptedResponses(.success(.init(NetworkResponse(text: "body", status: .init(code: code)))))
        let result = await Result { try await client(StatusInterceptor(), answers).run(.of(kind)) }
        if code < 300 {
            #expect(try result.get().status?.code == code)
            return
        }
        let error = try #require(result.failure)
        #expect(error.kind == .status)
        #expect(error.response?.status.code == code)
        #expect(error.data == Data("body".utf8))
        #expect(error.request?.path == "/\(kind)")
    }

    @Test(arguments: messages)
    func innermostStatusCheckAppliesToTheTransport(kind: NetworkOperation.Kind) async {
        Beagle.dependencies.interceptors = [StatusInterceptor()]
        let refusing = ScriptedTransport(status: .forbidden, "body")
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: refusing)
        let error = await #expect(throws: NetworkError.self) { try await client.run(.of(kind)) }
        #expect(error?.kind == .status)
        #expect(error?.response?.status == .forbidden)
        #expect(error?.data == Data("body".utf8))
        #expect(error?.request?.path == "/\(kind)")
    }

    // MARK: - Rates

    @Test(arguments: NetworkOperation.Kind.known)
    func secondRequestToAnOriginWaits(kind: NetworkOperation.Kind) async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let answers = ScriptedResponses(.success(.init("1")))
        let client = client(RateLimitInterceptor(1, per: .seconds(2)), answers)
        _ = try await client.run(.of(kind))
        let waiting = Task { try await client.run(.of(kind)) }
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(2))
        #expect(answers.count == 1)
        clock.advance(by: .seconds(2))
        #expect(try await waiting.value.shown == "1")
        #expect(answers.count == 2)
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func operationCancelledWhileWaitingSendsNothing(kind: NetworkOperation.Kind) async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let answers = ScriptedResponses(.success(.init("1")))
        let client = client(RateLimitInterceptor(1), answers)
        _ = try await client.run(.of(kind))
        let waiting = Task { await Result { try await client.run(.of(kind)) } }
        await clock.waitForSleepers(1)
        waiting.cancel()
        #expect(await waiting.value.failure?.isCancelled == true)
        #expect(answers.count == 1)
        #expect(clock.nextWait == nil)
    }

    // MARK: - Ages

    @Test(arguments: NetworkOperation.Kind.known, RequestPolicy.allCases)
    func ageLimitAppliesToCacheFirstOperationsOnly(kind: NetworkOperation.Kind, policy: RequestPolicy) async throws {
        let limit = RequestPolicyInterceptor(ttl: .seconds(10))
        let expected: Duration? = (isStorable(kind) || kind == .raw) && policy == .cacheFirst ? .seconds(10) : nil
        let performed = try await performed(.storable(kind, policy), limit)
        #expect(performed.maxAge == expected)
        #expect(performed.policy == policy)
    }

    @Test("a stored response is refetched; a kind that is never stored is requested once", arguments: messages)
    func storedResponseIsReturnedAsStaleAndRefetched(kind: NetworkOperation.Kind) async {
        let fixture = CacheFixture(RequestPolicyInterceptor(ttl: .zero))
        fixture.respond(with: .text("{}"))
        #expect(await fixture.results(of: .storable(kind)) == ["{}"])
        let again = await fixture.results(of: .storable(kind))
        #expect(again == (isStorable(kind) ? ["stored {} stale", "{}"] : ["{}"]))
        #expect(fixture.requests == 2)
    }

    // MARK: - Logs

    /// The log of a response, an error status and a failure, whose messages contain secrets.
    private func logged(_ kind: NetworkOperation.Kind, _ style: LogInterceptor.Style) async -> [[String]] {
        let fields: HTTPFields = [.setCookie: "id=hunter2"]
        let answer = NetworkResponse(response: HTTPResponse(status: .ok, headerFields: fields))
        let all = [
            ScriptedResponses(.success(.init(answer))), ScriptedResponses(.failure(.status(503, fields))),
            ScriptedResponses(.failure(.lost)),
        ]
        var messages: [[String]] = []
        for answers in all {
            let logger = MemoryLogger()
            Beagle.dependencies.logger = logger
            let headers = ["Authorization": "Bearer hunter2", "Cookie": "id=hunter2", "X-Api-Key": "hunter2"]
            let client = client(LogInterceptor(style), answers)
            _ = await Result { try await client.run(.of(kind, headers: headers)) }
            messages.append(logger.messages)
        }
        return messages
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func exchangeIsLoggedInOneLineWithoutSecrets(kind: NetworkOperation.Kind) async {
        let logged = await logged(kind, .exchanges)
        #expect(logged.map(\.count) == [1, 1, 1])
        for (lines, outcome) in zip(logged, ["200", "503", "the connection was lost"]) {
            let line = lines.first ?? ""
            #expect(line.contains(" http://host/\(kind) -> \(outcome) in "))
            #expect(!line.contains("hunter2"))
        }
    }

    @Test(arguments: NetworkOperation.Kind.known, [LogInterceptor.Style.messages, .commands])
    func requestAndOutcomeAreLoggedWithoutSecrets(kind: NetworkOperation.Kind, style: LogInterceptor.Style) async {
        let logged = await logged(kind, style)
        #expect(logged.map(\.count) == [2, 2, 2])
        for message in logged.joined() { #expect(!message.contains("hunter2")) }
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func intermediateResultsAreNotLogged(kind: NetworkOperation.Kind) async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let runs = ScriptedRuns { _, emit in
            emit(
                .init(
                    .progress(
                        TransferRequest.Progress(bytesSent: 0, bytesToSend: 0, bytesReceived: 5, bytesToReceive: 9)
                    )
                )
            )
            emit(.init("old", from: .cache, isStale: true))
            emit(.init("part", hasNext: true))
            return .init("new")
        }
        #expect(try await client(LogInterceptor(.exchanges), runs).run(.of(kind)).shown == "new")
        #expect(logger.messages.count == 1)
    }
}
