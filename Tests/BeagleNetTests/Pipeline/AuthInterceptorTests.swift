import BeagleNet
import BeagleNetTesting
import CurlPeers
import Testing
import TestClients

@Suite(.leavesNothing, .beagle(), .timeLimit(.minutes(5))) struct AuthInterceptorTests {
    /// A server that accepts the current token, and the app's rules for getting one.
    private final class TokenServer: Interceptor {
        struct Refused: Error {}

        let valid = Lock("token 1")
        let loads = Lock(0)
        let renewals = Lock(0)
        let tokens = Lock<[String]>([])
        /// The signal that a renewal waits for.
        let gate: AsyncStream<Void>?
        let fails: Bool

        init(gate: AsyncStream<Void>? = nil, fails: Bool = false) {
            self.gate = gate
            self.fails = fails
        }

        var rules: AuthInterceptor<String>.Rules {
            AuthInterceptor.Rules(
                load: {
                    self.loads.withLock { $0 += 1 }
                    return "token 1"
                },
                renew: { _ in
                    let number = self.renewals.withLock { renewals in
                        renewals += 1
                        return renewals
                    }
                    if let gate = self.gate { for await _ in gate { break } }
                    if self.fails { throw Refused() }
                    self.valid.withLock { $0 = "token \(number + 1)" }
                    return "token \(number + 1)"
                },
                attach: { token, head in head.headerFields[.authorization] = token }
            )
        }

        func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            let token = operation.transfer.head.headerFields[.authorization] ?? "none"
            tokens.withLock { $0.append(token) }
            guard token == valid.withLock({ $0 }) else { throw .status(401) }
            return .init(token)
        }
    }

    private let origins: Set<Origin> = [Origin(scheme: "http", host: "host")]

    private func client(_ fixture: TokenServer) -> NetworkClientDefault {
        TestClients.client(AuthInterceptor(fixture.rules, origins: origins), fixture)
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func rejectedCredentialIsRenewedOnce(kind: NetworkOperation.Kind) async throws {
        let fixture = TokenServer()
        let client = client(fixture)
        #expect(try await client.run(.of(kind)).shown == "token 1")
        fixture.valid.withLock { $0 = "another" }
        #expect(try await client.run(.of(kind)).shown == "token 2")
        #expect(fixture.tokens.withLock { $0 } == ["token 1", "token 1", "token 2"])
        #expect(fixture.loads.withLock { $0 } == 1)
        #expect(fixture.renewals.withLock { $0 } == 1)
    }

    @Test("ten operations of different kinds that are rejected concurrently share one renewal")
    func concurrentRejectionsShareOneRenewal() async {
        let fixture = TokenServer()
        let runs = ScriptedRuns()
        let client = TestClients.client(AuthInterceptor(fixture.rules, origins: origins), runs)
        let all = (NetworkOperation.Kind.known + [.form, .mutation, .raw]).map { kind in
            let received = EventRecorder()
            client.watch(.of(kind), received.receive)
            return received
        }
        for token in ["token 1", "token 2"] {
            var started: [ScriptedRuns.Run] = []
            for _ in all { started.append(await runs.next()) }
            for run in started {
                #expect(run.operation.transfer.head.headerFields[.authorization] == token)
                if token == "token 1" { run.finish(.failure(.status(401))) } else { run.finish(token) }
            }
        }
        for received in all {
            await received.waitForEvents(1)
            #expect(received.all.first == "token 2")
        }
        #expect(fixture.renewals.withLock { $0 } == 1)
        #expect(fixture.loads.withLock { $0 } == 1)
        #expect(runs.count == 2 * all.count)
        withExtendedLifetime(client) {}
    }

    @Test func secondRejectionIsReturned() async {
        let fixture = TokenServer()
        let client = client(fixture)
        fixture.valid.withLock { $0 = "token 9" }
        let renewing = AuthInterceptor(
            AuthInterceptor<String>.Rules(
                load: { "a" },
                renew: { $0 + "a" },
                attach: { token, head in head.headerFields[.authorization] = token }
            ),
            origins: origins
        )
        _ = client
        let result = await Result { try await TestClients.client(renewing, fixture).run(.of(.component)) }
        #expect(result.failure?.response?.status == .unauthorized)
        #expect(fixture.tokens.withLock { $0 } == ["a", "aa"])
    }

    @Test func renewalFailureReachesAllWaitingOperations() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let fixture = TokenServer(gate: gate.stream, fails: true)
        let client = client(fixture)
        _ = try await client.run(.of(.raw))
        fixture.valid.withLock { $0 = "token 9" }
        let failures = AsyncStream.makeStream(of: NetworkError.self)
        for kind in NetworkOperation.Kind.known {
            client.watch(.of(kind)) { event in
                if case .failure(let error) = event { failures.continuation.yield(error) }
            }
        }
        // The first was rejected, and the others wait for the new token.
        #expect(fixture.tokens.withLock { $0 } == ["token 1", "token 1"])
        gate.continuation.yield()
        var reached = 0
        for await failure in failures.stream {
            #expect(failure.underlying is TokenServer.Refused)
            reached += 1
            if reached == NetworkOperation.Kind.known.count { break }
        }
        #expect(fixture.renewals.withLock { $0 } == 1)
        withExtendedLifetime(client) {}
    }

    @Test func nextOperationRenewsAgainAfterAFailure() async {
        let fixture = TokenServer(fails: true)
        fixture.valid.withLock { $0 = "token 9" }
        let client = client(fixture)
        for _ in 1...2 { #expect(await Result { try await client.run(.of(.component)) }.failure != nil) }
        #expect(fixture.renewals.withLock { $0 } == 2)
    }

    @Test func operationCancelledDuringARenewalIsNotSentAgain() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let fixture = TokenServer(gate: gate.stream)
        fixture.valid.withLock { $0 = "token 2" }
        let client = client(fixture)
        let leaving = Task { await Result { try await client.run(.of(.form)) } }
        while fixture.renewals.withLock({ $0 }) == 0 { await Task.yield() }
        async let staying = client.run(.of(.raw))
        leaving.cancel()
        #expect(await leaving.value.failure?.isCancelled == true)
        gate.continuation.yield()
        #expect(try await staying.shown == "token 2")
        #expect(!fixture.tokens.withLock { $0.dropFirst(2).count > 1 })
    }

    @Test func hangingRenewalTimesOutForAllWaitingOperations() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let never = AsyncStream.makeStream(of: Void.self)
        let fixture = TokenServer(gate: never.stream)
        fixture.valid.withLock { $0 = "token 9" }
        let client = client(fixture)
        async let result = Result { try await client.run(.of(.component)) }
        while fixture.renewals.withLock({ $0 }) == 0 {
            await Task.yield()
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(30))
        #expect(await result.failure?.isTimeout == true)
        withExtendedLifetime(never) {}
    }

    @Test func expiringCredentialIsRenewedBeforeUse() async throws {
        let fixture = TokenServer()
        fixture.valid.withLock { $0 = "token 2" }
        var rules = fixture.rules
        rules.isExpiring = { $0 == "token 1" }
        let client = TestClients.client(AuthInterceptor(rules, origins: origins), fixture)
        for _ in 1...2 { #expect(try await client.run(.of(.component)).shown == "token 2") }
        #expect(fixture.tokens.withLock { $0 } == ["token 2", "token 2"])
        #expect(fixture.renewals.withLock { $0 } == 1)
    }

    @Test func otherOriginsReceiveNoCredentialAndCauseNoRenewal() async {
        let fixture = TokenServer()
        let named = AuthInterceptor(fixture.rules, origins: [Origin(scheme: "https", host: "host")])
        let declared = AuthInterceptor(fixture.rules)
        Beagle.dependencies.httpRequestBuilder.baseURL = URL(string: "http://elsewhere")
        for auth in [named, declared] {
            let result = await Result { try await TestClients.client(auth, fixture).run(.of(.component)) }
            #expect(result.failure?.response?.status == .unauthorized)
        }
        #expect(fixture.tokens.withLock { $0 } == ["none", "none"])
        #expect(fixture.loads.withLock { $0 } == 0)
        #expect(fixture.renewals.withLock { $0 } == 0)
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func credentialWithoutDeclaredOriginsIsAnErrorWithAdvice(kind: NetworkOperation.Kind) async throws {
        let fixture = TokenServer()
        let client = TestClients.client(AuthInterceptor(fixture.rules), fixture)
        let error = try #require(await Result { try await client.run(.of(kind)) }.failure)
        #expect(error.kind == .badRequest && error.phase == .build && !error.mayHaveReachedServer)
        #expect(error.message.contains("AuthInterceptor"))
        for cure in ["base URL", "HttpRequestBuilder.origins"] { #expect(error.advice?.contains(cure) == true) }
        #expect(!error.description.contains("token 1"))
        #expect(fixture.tokens.withLock { $0 } == [])
        let rules = AuthInterceptor<String>.Rules(load: { nil }, attach: { _, _ in })
        let signedOut = await Result { try await TestClients.client(AuthInterceptor(rules), fixture).run(.of(kind)) }
        #expect(signedOut.failure?.response?.status == .unauthorized)
    }

    @Test func originsOfTheBuilderReceiveTheCredential() async throws {
        Beagle.dependencies.httpRequestBuilder.baseURL = URL(string: "http://host/api")
        let fixture = TokenServer()
        let client = TestClients.client(AuthInterceptor(fixture.rules), fixture)
        #expect(try await client.run(.of(.component)).shown == "token 1")
    }

    @Test func resetLoadsTheCredentialAgain() async throws {
        let fixture = TokenServer()
        let auth = AuthInterceptor(fixture.rules, origins: origins)
        let client = TestClients.client(auth, fixture)
        _ = try await client.run(.of(.component))
        auth.reset()
        _ = try await client.run(.of(.component))
        #expect(fixture.loads.withLock { $0 } == 2)
    }

    @Test("a request rejected with one user's credential is not sent with another's")
    func rejectionAfterSigningOutIsReturned() async throws {
        let runs = ScriptedRuns()
        let token = Lock("A")
        let renewals = Lock(0)
        let auth = AuthInterceptor(
            AuthInterceptor<String>.Rules(
                load: { token.withLock { $0 } },
                renew: { _ in
                    renewals.withLock { $0 += 1 }
                    return nil
                },
                attach: { token, head in head.headerFields[.authorization] = token }
            ),
            origins: origins
        )
        let client = TestClients.client(auth, runs)
        let ofA = Task { await Result { try await client.run(.of(.form)) } }
        let run = await runs.next()
        token.withLock { $0 = "B" }
        auth.reset()
        run.finish(.failure(.status(401)))
        #expect(await ofA.value.failure?.response?.status == .unauthorized)
        #expect(runs.count == 1)
        #expect(renewals.withLock { $0 } == 0)
        async let ofB = client.run(.of(.form))
        let next = await runs.next()
        #expect(next.operation.transfer.head.headerFields[.authorization] == "B")
        next.finish("1")
        _ = try await ofB
    }

    @Test(
        "a request sent with one user's credential is not sent again with another's",
        arguments: [.component, .form] as [NetworkOperation.Kind]
    )
    func requestIsNotRetriedAfterSigningOut(kind: NetworkOperation.Kind) async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let runs = ScriptedRuns { operation, _ in operation.attempt > 1 ? .init("again") : nil }
        let token = Lock("A")
        let auth = AuthInterceptor(rules(token), origins: origins)
        let client = TestClients.client(RetryInterceptor(), auth, runs)
        let ofA = Task { await Result { try await client.run(.of(kind, headers: ["Idempotency-Key": "k1"])) } }
        await runs.next().finish(.failure(.status(503)))
        await signInAsB(token, auth, beforeRetryOn: clock)
        let error = await ofA.value.failure
        #expect(error?.message.contains("another user may have signed in") == true, "\(String(describing: error))")
        #expect(runs.count == 1)
    }

    @Test("a request of one user that failed before it got a credential is not sent with another user's")
    func requestThatHadNoCredentialIsNotRetriedAfterSigningOut() async {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let runs = ScriptedRuns { _, _ in .init("sent") }
        let token = Lock("A")
        let auth = AuthInterceptor(rules(token), origins: origins)
        let client = TestClients.client(RetryInterceptor(), FirstAttemptFails(), auth, runs)
        let ofA = Task { await Result { try await client.run(.of(.component)) } }
        await signInAsB(token, auth, beforeRetryOn: clock)
        let error = await ofA.value.failure
        #expect(error?.message.contains("another user may have signed in") == true, "\(String(describing: error))")
        #expect(runs.count == 0)
    }

    @Test func taskThatOutlivesTheLoadHasCredentials() async throws {
        let fixture = TokenServer()
        let gate = AsyncStream.makeStream(of: Void.self)
        let lasting = Lock<Task<String?, any Error>?>(nil)
        let client = Lock<NetworkClientDefault?>(nil)
        var rules = fixture.rules
        rules.load = {
            let task = Task {
                for await _ in gate.stream { break }
                return try await client.withLock { $0 }?.run(.of(.raw)).shown
            }
            lasting.withLock { $0 = task }
            return "token 1"
        }
        let ours = TestClients.client(AuthInterceptor(rules, origins: origins), fixture)
        client.withLock { $0 = ours }
        #expect(try await ours.run(.of(.component)).shown == "token 1")
        gate.continuation.yield()
        #expect(try await lasting.withLock { $0 }?.value == "token 1")
        client.withLock { $0 = nil }
    }

    /// Signs in as another user during the wait before a retry, and ends the wait.
    private func signInAsB(
        _ token: Lock<String>,
        _ auth: AuthInterceptor<String>,
        beforeRetryOn clock: ManualClock
    ) async {
        await clock.waitForSleepers(1)
        token.withLock { $0 = "B" }
        auth.reset()
        clock.advance(by: .seconds(30))
    }

    /// Rules of an app in which another user signs in while a renewal fails.
    private func rules(_ token: Lock<String>, _ renewals: Lock<Int> = Lock(0)) -> AuthInterceptor<String>.Rules {
        AuthInterceptor.Rules(
            load: { token.withLock { $0 } },
            renew: { _ in
                renewals.withLock { $0 += 1 }
                token.withLock { $0 = "B" }
                return nil
            },
            attach: { token, head in head.headerFields[.authorization] = token }
        )
    }

    @Test("a request rejected after a failed renewal is not sent again, and causes no other renewal")
    func rejectionAfterAFailedRenewalIsReturned() async throws {
        let runs = ScriptedRuns()
        let renewals = Lock(0)
        let client = TestClients.client(AuthInterceptor(rules(Lock("A"), renewals), origins: origins), runs)
        let ofA = Task { await Result { try await client.run(.of(.form)) } }
        let late = await runs.next()
        let refused = Task { await Result { try await client.run(.of(.raw)) } }
        await runs.next().finish(.failure(.status(401)))
        #expect(await refused.value.failure?.response?.status == .unauthorized)
        async let ofB = client.run(.of(.mutation))
        let next = await runs.next()
        #expect(next.operation.transfer.head.headerFields[.authorization] == "B")
        next.finish("1")
        _ = try await ofB
        late.finish(.failure(.status(401)))
        #expect(await ofA.value.failure?.response?.status == .unauthorized)
        #expect(runs.count == 3)
        #expect(renewals.withLock { $0 } == 1)
    }

    @Test func operationDuringAFailedRenewalLoadsTheNextCredential() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let (token, renewals) = (Lock("A"), Lock(0))
        var rules = rules(token, renewals)
        let renew = rules.renew
        rules.renew = { credential in
            let renewed = try await renew(credential)
            for await _ in gate.stream { break }
            return renewed
        }
        let runs = ScriptedRuns()
        let client = TestClients.client(AuthInterceptor(rules, origins: origins), runs)
        let refused = Task { await Result { try await client.run(.of(.raw)) } }
        await runs.next().finish(.failure(.status(401)))
        while renewals.withLock({ $0 }) == 0 { await Task.yield() }
        async let waiting = client.run(.of(.form))
        for _ in 1...20 { await Task.yield() }
        gate.continuation.yield()
        #expect(await refused.value.failure?.response?.status == .unauthorized)
        let run = await runs.next()
        #expect(run.operation.transfer.head.headerFields[.authorization] == "B")
        run.finish("1")
        _ = try await waiting
    }

    @Test func expiringCredentialIsUsedIfThereIsNoOther() async throws {
        var rules = rules(Lock("A"))
        rules.isExpiring = { $0 == "A" }
        let answers = ScriptedResponses(.success(.init("1")))
        _ = try await TestClients.client(AuthInterceptor(rules, origins: origins), answers).run(.of(.form))
        #expect(answers.operations.withLock { $0.first?.transfer.head.headerFields[.authorization] } == "A")
    }

    @Test(
        "an operation that waits for a credential hasn't reached the server, however fetching it failed",
        arguments: [true, false]
    )
    func credentialFailureHasNotReachedTheServer(isWhileRenewing: Bool) async {
        struct Mine: Error {}
        let failures: [any Error] = [Mine(), NetworkError.lost, NetworkError.status(500)]
        for failure in failures {
            let rules = AuthInterceptor<String>.Rules(
                load: {
                    if !isWhileRenewing { throw failure }
                    return "A"
                },
                renew: { _ in throw failure },
                attach: { token, head in head.headerFields[.authorization] = token }
            )
            let answers = ScriptedResponses(.failure(.status(401)))
            let client = TestClients.client(AuthInterceptor(rules, origins: origins), answers)
            let error = await Result { try await client.run(.of(.form)) }.failure
            #expect(error?.kind == NetworkError(wrapping: failure).kind)
            #expect(error?.mayHaveReachedServer == false)
            #expect(answers.count == (isWhileRenewing ? 1 : 0))
        }
    }

    @Test func rejectionByAnotherServerCausesNoRenewal() async throws {
        let fixture = TokenServer()
        let stamp = HeadersInterceptor(origins: origins) { _ in throw NetworkError.status(401) }
        let client = TestClients.client(AuthInterceptor(fixture.rules, origins: origins), stamp, fixture)
        let error = await Result { try await client.run(.of(.form)) }.failure
        #expect(error?.kind == .status)
        #expect(error?.mayHaveReachedServer == false)
        #expect(fixture.renewals.withLock { $0 } == 0)
    }

    @Test func credentialIsLoadedAgainAfterAFailedRenewal() async {
        let loads = Lock(0)
        let auth = AuthInterceptor(
            AuthInterceptor<String>.Rules(
                load: {
                    loads.withLock { loads in
                        loads += 1
                        return "\(loads)"
                    }
                },
                attach: { token, head in head.headerFields[.authorization] = token }
            ),
            origins: origins
        )
        let client = TestClients.client(auth, ScriptedResponses(.failure(.status(401))))
        for _ in 1...2 { _ = await Result { try await client.run(.of(.component)) } }
        #expect(loads.withLock { $0 } == 2)
    }

    @Test func renewalMayUseTheSameClient() async throws {
        let fixture = TokenServer()
        fixture.valid.withLock { $0 = "token 2" }
        let slot = Lock<NetworkClientDefault?>(nil)
        var rules = fixture.rules
        let renew = rules.renew
        rules.renew = { token in
            let client = slot.withLock { $0 }
            _ = await Result { try await client?.run(.of(.raw)) }
            return try await renew(token)
        }
        let client = TestClients.client(AuthInterceptor(rules, origins: origins), fixture)
        slot.withLock { $0 = client }
        #expect(try await client.run(.of(.component)).shown == "token 2")
        #expect(fixture.tokens.withLock { $0 } == ["token 1", "none", "token 2"])
        slot.withLock { $0 = nil }
    }

    @Test func namedOriginsReceiveTheCredentialInTheDefaultPipeline() async throws {
        Beagle.dependencies.httpRequestBuilder.baseURL = URL(string: "http://own")
        Beagle.dependencies.interceptors.add(AuthInterceptor(TokenServer().rules, origins: origins))
        let transport = ScriptedTransport()
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        for url in ["http://host/a", "http://own/a"] { _ = try await client.image(url) }
        let heads = transport.requests.withLock { $0.map { $0.head.headerFields[.authorization] } }
        #expect(heads == ["token 1", nil])
    }

    @Test("on the wire: the credential does not follow a redirect to another origin")
    func credentialStaysWithItsOrigin() async throws {
        let seen = Lock<[String?]>([])
        let foreign = try LoopbackServer { request in
            seen.withLock { $0.append(request.values(of: "Authorization").first) }
            return .response(200, [:], "1")
        }
        let own = try LoopbackServer { request in
            seen.withLock { $0.append(request.values(of: "Authorization").first) }
            return .response(302, ["Location": foreign.url + "/"])
        }
        let url = try #require(URL(string: own.url))
        Beagle.dependencies.httpRequestBuilder.baseURL = url
        Beagle.dependencies.interceptors.add(AuthInterceptor(TokenServer().rules))
        let client = NetworkClientDefault(dependencies: Beagle.dependencies)
        _ = try await client.executeRequest(Request(url: url, type: .fetchComponent))
        #expect(seen.withLock { $0 } == ["token 1", nil])
    }
}

private struct FirstAttemptFails: Interceptor {
    nonisolated(nonsending) func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        if operation.attempt == 1 { throw NetworkError(.connect, during: .connect, "no route") }
        return try await next(operation, emit)
    }
}
