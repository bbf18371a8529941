import BeagleNet
import BeagleNetCurl
import BeagleNetTesting
import CurlPeers
import Testing
import TestClients

@Suite(.leavesNothing, .beagle(), .timeLimit(.minutes(5))) struct CacheInterceptorTests {
    // MARK: - Policies

    /// The state of the stored response.
    enum Stored: CaseIterable {
        case nothing, young, old
    }

    /// The outcome of a request.
    enum Network: CaseIterable {
        case answers, isLost, isUnavailable, refuses

        var outcome: CacheFixture.Outcome {
            switch self {
            case .answers: .text("{\"a\":2}")
            case .isLost: .failure(.lost)
            case .isUnavailable: .text("", status: 503)
            case .refuses: .text("", status: 403)
            }
        }

        var summary: String {
            switch self {
            case .answers: "{\"a\":2}"
            case .isLost: "failure: network"
            case .isUnavailable, .refuses: "failure: status"
            }
        }

        var allowsStale: Bool { self == .isLost || self == .isUnavailable }
    }

    /// The events in order, and the number of requests.
    private func expected(_ policy: RequestPolicy, _ stored: Stored, _ network: Network) -> ([String], Int) {
        let (document, stale) = ("stored {\"a\":1}", "stored {\"a\":1} stale")
        return switch (policy, stored) {
        case (.cacheFirst, .young), (.cacheOnly, .young), (.cacheOnly, .old): ([document], 0)
        case (.cacheOnly, .nothing): (["failure: not_stored"], 0)
        case (.cacheFirst, .old), (.cacheAndNetwork, .young), (.cacheAndNetwork, .old): ([stale, network.summary], 1)
        case (.networkFirst, .young), (.networkFirst, .old):
            (network.allowsStale ? [stale] : [network.summary], 1)
        case (.networkOnly, _), (.http, _), (_, .nothing): ([network.summary], 1)
        }
    }

    /// The kinds of operations, each without and with an interceptor above the cache.
    static let kinds = [NetworkOperation.Kind.component, .image, .query].flatMap { [($0, false), ($0, true)] }

    /// Records the results above the cache.
    private final class RecordingObserver: Interceptor {
        let seen = Lock<[String]>([])
        var place: Pipeline.Place? { .log }

        func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            let result = try await next(operation, emit)
            seen.withLock { $0.append(result.summary) }
            return result
        }
    }

    @Test(arguments: RequestPolicy.allCases, kinds)
    func policySelectsTheSource(policy: RequestPolicy, _ kindAndObserver: (NetworkOperation.Kind, Bool)) async {
        let (kind, isSeen) = kindAndObserver
        for stored in Stored.allCases {
            for network in Network.allCases {
                let clock = ManualClock()
                Beagle.dependencies.clock = clock
                let fixture = isSeen ? CacheFixture(RecordingObserver()) : CacheFixture()
                fixture.respond(with: .text("{\"a\":1}"))
                if stored != .nothing { _ = await fixture.results(of: .storable(kind, .networkOnly)) }
                let before = fixture.requests
                fixture.respond(with: network.outcome)
                if stored == .old { clock.advance(by: .seconds(60)) }
                var operation = NetworkOperation.storable(kind, policy)
                operation.maxAge = .seconds(60)
                let (events, requests) = expected(policy, stored, network)
                #expect(await fixture.results(of: operation) == events, "\(stored) \(network)")
                #expect(fixture.requests - before == requests, "\(stored) \(network)")
                await fixture.client.isIdle()
            }
        }
    }

    /// The owner of a deadline.
    enum DeadlineOwner: CaseIterable {
        case byOperation, byInterceptor
    }

    /// The outcome of an operation that a deadline or its caller cancels.
    private func outcome(
        _ policy: RequestPolicy,
        _ owner: DeadlineOwner = .byOperation,
        isStored: Bool = true,
        isCancelled: Bool = false
    ) async throws -> [String] {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let held = HeldCompletion()
        let limit: Duration? = owner == .byInterceptor ? .seconds(2) : nil
        var deadline = DeadlineInterceptor(limit: limit)
        // Other tests may hold this one up for longer than an app would wait.
        deadline.gracePeriod = .seconds(60)
        Beagle.dependencies.interceptors = [deadline, CacheInterceptor(SlowStore()), StatusInterceptor()]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: held.cancellableTransport())
        if isStored {
            async let first = client.run(.storable())
            await held.isHeld()
            held.complete(.text("1"))
            _ = try await first
            await client.isIdle()
        }
        var operation = NetworkOperation.storable(.component, policy)
        if owner == .byOperation { operation.deadline = .seconds(2) }
        let results = Lock<[String]>([])
        let request = Task { [operation] in
            await Result {
                try await client.run(operation) { result in results.withLock { $0.append(result.summary) } }
            }
        }
        await held.isHeld()
        await clock.waitForSleepers(1)
        if isCancelled { request.cancel() } else { clock.advance(by: .seconds(2)) }
        let outcome = await request.value
        switch outcome {
        case .success(let result): results.withLock { $0.append(result.summary) }
        case .failure(let error): results.withLock { $0.append("failure: \(error.kind.rawValue)") }
        }
        return results.withLock { $0 }
    }

    @Test("the network counts as unreachable at the deadline", arguments: DeadlineOwner.allCases)
    func storedResponseReplacesALateOne(owner: DeadlineOwner) async throws {
        #expect(try await outcome(.networkFirst, owner) == ["stored 1 stale"])
        #expect(try await outcome(.networkFirst, owner, isStored: false) == ["failure: timeout"])
        #expect(try await outcome(.networkOnly, owner) == ["failure: timeout"])
        #expect(try await outcome(.cacheAndNetwork, owner) == ["stored 1 stale", "failure: timeout"])
    }

    @Test func cancelledCallerReceivesNoStaleResponse() async throws {
        #expect(try await outcome(.networkFirst, isCancelled: true) == ["failure: cancelled"])
    }

    @Test("deadline and progress are not part of the key")
    func storedResponseIsFoundWithAnyDeadlineOrProgress() async {
        let fixture = CacheFixture()
        _ = await fixture.results(of: .storable())
        var operation = NetworkOperation.storable()
        operation.deadline = .seconds(5)
        operation.reportsProgress = true
        #expect(await fixture.results(of: operation) == ["stored 1"])
    }

    @Test(arguments: RequestPolicy.allCases, [NetworkOperation.Kind.form, .mutation, .raw])
    func unsafeOperationIsSentAndNotStored(policy: RequestPolicy, kind: NetworkOperation.Kind) async {
        let fixture = CacheFixture()
        #expect(await fixture.results(of: .storable(kind, policy)) == ["1"])
        #expect(await fixture.results(of: .storable(kind, policy)) == ["1"])
        #expect(fixture.requests == 2)
        #expect(fixture.store.count == 0)
    }

    @Test(arguments: RequestPolicy.allCases) func subscriptionIsNotStored(policy: RequestPolicy) async {
        let store = MemoryResponseStore()
        let client = client(CacheInterceptor(store), ScriptedRuns { _, _ in .init("1") })
        let events = EventRecorder()
        client.watch(.storable(.subscription, policy), events.receive)
        #expect(events.all == ["1", "end"])
        #expect(store.count == 0)
    }

    @Test func eventStreamIsNotStored() async throws {
        let fixture = CacheFixture()
        let data = Request.RequestData(headers: ["Accept": "text/event-stream"])
        let request = Request(url: URL(string: "http://host/screen")!, type: .rawRequest(data))
        for _ in 1...2 { _ = try await fixture.client.stream(request).body.collect() }
        #expect(fixture.requests == 2)
        #expect(fixture.store.count == 0)
    }

    @Test func storedResponseIsDeliveredBeforeTheCallReturns() async {
        let fixture = CacheFixture()
        _ = await fixture.results(of: .storable())
        let events = EventRecorder()
        fixture.client.watch(.storable(), events.receive)
        #expect(events.all == ["1"])
        fixture.client.endAll()
        fixture.client.watch(.storable(.component, .cacheOnly), events.receive)
        #expect(events.all == ["1", "end", "1"])
        #expect(fixture.requests == 1)
        fixture.client.endAll()
    }

    @Test func interceptorAboveTheCacheSeesStoredResponses() async {
        let observer = RecordingObserver()
        let fixture = CacheFixture(observer)
        for _ in 1...2 { _ = await fixture.results(of: .storable()) }
        #expect(observer.seen.withLock { $0 } == ["1", "stored 1"])
    }

    @Test func storedResponseIsNotDeliveredToOtherSubscribers() async {
        let fixture = CacheFixture()
        let events = EventRecorder()
        fixture.client.watch(.storable(), events.receive)
        await events.waitForEvents(1)
        #expect(await fixture.results(of: .storable()) == ["stored 1"])
        #expect(events.all == ["1"])
        fixture.client.endAll()
    }

    /// A store that suspends, like one on a disk.
    private struct SlowStore: ResponseStore {
        private let inner = MemoryResponseStore()

        func responses(for key: ResponseKey) async -> [StoredResponse] {
            await Task.yield()
            // Like a database.
            if Task.isCancelled { return [] }
            return inner.responses(for: key)
        }

        func insert(_ response: StoredResponse, for key: ResponseKey) async {
            await Task.yield()
            inner.insert(response, for: key)
        }

        func remove(_ key: ResponseKey) async {
            await Task.yield()
            inner.remove(key)
        }

        func removeAll(ofOriginOf key: ResponseKey) async { inner.removeAll(ofOriginOf: key) }
        func removeAll(of partition: String) async { inner.removeAll(of: partition) }
        func removeAll() async { inner.removeAll() }
    }

    @Test func slowStoreIsSupported() async throws {
        let store = SlowStore()
        Beagle.dependencies.interceptors = [CacheInterceptor(store), StatusInterceptor()]
        let transport = ScriptedTransport("1")
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        #expect(try await client.run(.storable()).summary == "1")
        #expect(try await client.run(.storable()).summary == "stored 1")
        let before = Lock<[String]>([])
        let last = try await client.run(.storable(.component, .cacheAndNetwork)) { result in
            before.withLock { $0.append(result.summary) }
        }
        #expect(before.withLock { $0 } == ["stored 1 stale"])
        #expect(last.summary == "1")
        #expect(transport.requests.withLock { $0.count } == 2)
    }

    @Test("only a store in memory may be read on the transport's thread") func slowStoreMayBlock() {
        #expect(CacheInterceptor().neverBlocks)
        #expect(!CacheInterceptor(SlowStore()).neverBlocks)
    }

    @Test func cacheOnlyWithoutAStoreFailsWithAdvice() async throws {
        let client = client(StatusInterceptor())
        let clients: [(any NetworkClient, cure: String)] = [
            (client, "CacheInterceptor"), (StubClient { _ in NetworkResponse() }, "NetworkClientWrapper"),
        ]
        for (client, cure) in clients {
            let error = await Result { try await client.run(.storable(.component, .cacheOnly)) }.failure
            #expect(error?.kind == .notStored)
            #expect(error?.mayHaveReachedServer == false)
            #expect(error?.advice?.contains(cure) == true)
        }
    }

    // MARK: - Stored responses

    private static let forbiddingDirectives: [String] = [
        "no-store", "private, no-store", "NO-STORE", "max-age=60, No-Cache", " no-store ,private",
        "max-age=0, must-revalidate", "max-age=\"0\",Must-Revalidate",
    ]

    @Test(arguments: Self.forbiddingDirectives)
    func responseWithAForbiddingDirectiveIsNotStored(directives: String) async {
        let fixture = CacheFixture()
        _ = await fixture.results(of: .storable())
        fixture.respond(with: .text("2", [.cacheControl: directives]))
        #expect(await fixture.results(of: .storable(.component, .networkOnly)) == ["2"])
        #expect(fixture.store.count == 0, "an older response is removed, too")
    }

    @Test(arguments: [
        "max-age=10", "max-age", "s-maxage=0", "private", "x-no-store", "extension=no-store", "no-cache=\"x\"",
        "max-age=0",
    ])
    func responseWithOtherDirectivesIsStored(directives: String) async {
        let fixture = CacheFixture()
        fixture.respond(with: .text("1", [.cacheControl: directives]))
        _ = await fixture.results(of: .storable())
        #expect(fixture.store.count == 1)
    }

    @Test func noStoreInTheRequestIsRespected() async {
        let fixture = CacheFixture()
        _ = await fixture.results(of: .of(.component, headers: ["Cache-Control": "no-store"]))
        #expect(fixture.store.count == 0)
    }

    @Test func responseThatVariesByEverythingIsNotStored() async {
        let fixture = CacheFixture()
        fixture.respond(with: .text("1", [.vary: "*"]))
        _ = await fixture.results(of: .storable())
        #expect(fixture.store.count == 0)
    }

    @Test(arguments: [201, 206]) func incompleteResponseIsNotStored(status: Int) async {
        let fixture = CacheFixture()
        fixture.respond(with: .text("1", status: status))
        #expect(await fixture.results(of: .storable()) == ["1"])
        #expect(fixture.store.count == 0)
    }

    @Test(arguments: [404, 410], [403, 500]) func missingResourceIsRemovedFromTheStore(gone: Int, refused: Int) async {
        let fixture = CacheFixture()
        _ = await fixture.results(of: .storable())
        fixture.respond(with: .text("", status: refused))
        _ = await fixture.results(of: .storable(.component, .networkOnly))
        #expect(fixture.store.count == 1)
        fixture.respond(with: .text("", status: gone))
        _ = await fixture.results(of: .storable(.component, .networkOnly))
        #expect(fixture.store.count == 0)
    }

    private static let failedQueries: [String] = [
        #"{"data":null,"errors":[]}"#, #" { "errors" : null } "#, #"{"data":{"a":["}]"]},"errors":[]}"#,
        #"{"data":"\"","errors":[]}"#, #"{"\u0065rrors":[]}"#, "\u{FEFF}{\"errors\":[]}", "no JSON", "", "[]", "1",
        #""errors""#, #"{"data":1"#, #"{"data":"}"#, #"{"data":1}}"#, #"{"data":1},"#, #"{"data":1} 2"#,
    ]

    @Test(arguments: Self.failedQueries)
    func failedQueryIsNotStored(body: String) async {
        let fixture = CacheFixture()
        fixture.respond(with: .text(body))
        _ = await fixture.results(of: .storable(.query))
        #expect(fixture.store.count == 0)
    }

    private static let successfulQueries: [String] = [
        "{}", #"{"data":{"errors":[]}}"#, #"{"data":"errors"}"#, #"{"data":["a","errors"]}"#,
        #"{"error":1,"errorsX":2}"#,
        #"{"data":"\\","a":"\"errors\":"} "#, "\u{FEFF}{}\n",
    ]

    @Test(arguments: Self.successfulQueries)
    func successfulQueryIsStored(body: String) async {
        let fixture = CacheFixture()
        fixture.respond(with: .text(body))
        _ = await fixture.results(of: .storable(.query))
        #expect(fixture.store.count == 1)
    }

    @Test func postedScreenIsNotStored() async {
        let fixture = CacheFixture()
        var screen = NetworkOperation.storable()
        screen.request.additionalData = HttpAdditionalData(httpData: .init(method: .POST))
        _ = await fixture.results(of: screen)
        #expect(fixture.transport.requests.withLock { $0.first?.head.method } == .post)
        #expect(fixture.store.count == 0)
        #expect(await fixture.results(of: screen) == ["1"])
        #expect(fixture.requests == 2)
    }

    @Test func incrementalResponseIsNotStored() async {
        let pieces = ScriptedRuns { _, emit in
            emit(.init("1", hasNext: true))
            return .init("2")
        }
        let fixture = CacheFixture(pieces)
        _ = await fixture.results(of: NetworkOperation.storable().of(partition: "A"))
        #expect(fixture.store.count == 0)
    }

    // MARK: - Users

    /// A signed-in user. The server responds with the user's name.
    private final class User: Sendable {
        let token: Lock<String?>
        private let renewed: Lock<String?>

        init(_ token: String?, renewed: String? = nil) {
            self.token = Lock(token)
            self.renewed = Lock(renewed)
        }

        var auth: AuthInterceptor<String> {
            AuthInterceptor(
                .init(
                    load: { self.token.withLock { $0 } },
                    renew: { _ in self.renewed.withLock { $0 } },
                    attach: { token, head in head.headerFields[.authorization] = token }
                ),
                origins: [Origin(scheme: "http", host: "host")]
            )
        }

        static func answer(_ request: TransferRequest) -> CacheFixture.Outcome {
            let name = request.head.headerFields[.authorization] ?? "anonymous"
            return name == "expired" ? .text("", status: 401) : .text(name)
        }
    }

    @Test func responseIsStoredForItsUserOnly() async {
        let user = User("A")
        let auth = user.auth
        let fixture = CacheFixture(auth, responses: User.answer)
        #expect(await fixture.results(of: .storable()) == ["A"])
        #expect(await fixture.results(of: .storable()) == ["stored A"])
        user.token.withLock { $0 = "B" }
        auth.reset()
        #expect(await fixture.results(of: .storable(.component, .cacheOnly)) == ["failure: not_stored"])
        #expect(await fixture.results(of: .storable()) == ["B"])
        user.token.withLock { $0 = nil }
        auth.reset()
        #expect(await fixture.results(of: .storable()) == ["anonymous"])
        user.token.withLock { $0 = "A" }
        auth.reset()
        #expect(await fixture.results(of: .storable()) == ["A"])
    }

    @Test func renewedCredentialBelongsToTheSameUser() async {
        let user = User("expired", renewed: "A")
        let fixture = CacheFixture(user.auth, responses: User.answer)
        #expect(await fixture.results(of: .storable()) == ["A"])
        #expect(await fixture.results(of: .storable()) == ["stored A"])
        #expect(fixture.requests == 2)
    }

    @Test func signInAfterAFailedRenewalMayBeAnotherUser() async {
        let user = User("A")
        let expires = Lock(false)
        let fixture = CacheFixture(
            user.auth,
            responses: { expires.withLock { $0 } ? .text("", status: 401) : User.answer($0) }
        )
        #expect(await fixture.results(of: .storable()) == ["A"])
        expires.withLock { $0 = true }
        #expect(await fixture.results(of: .storable(.component, .networkOnly)) == ["failure: status"])
        expires.withLock { $0 = false }
        user.token.withLock { $0 = "B" }
        #expect(await fixture.results(of: .storable()) == ["B"])
    }

    @Test func responseAfterAnotherUserSignedInIsNotStored() async {
        let user = User("A")
        let auth = user.auth
        let held = HeldCompletion()
        let store = MemoryResponseStore()
        Beagle.dependencies.interceptors = [CacheInterceptor(store), auth]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: held.transport())
        for operation in [NetworkOperation.storable(), .storable().of(partition: "A")] {
            async let answer = Result { try await client.run(operation).shown }
            await held.isHeld()
            user.token.withLock { $0 = "B" }
            auth.reset()
            held.complete(.text("A"))
            _ = await answer
            #expect(store.count == 0)
        }
    }

    @Test func requestAfterSignInDoesNotJoinAnEarlierOne() async {
        let user = User("A")
        let auth = user.auth
        let runs = ScriptedRuns()
        let client = client(auth, runs)
        client.watch(.storable()) { _ in }
        _ = await runs.next()
        auth.reset()
        client.watch(.storable()) { _ in }
        _ = await runs.next()
        #expect(runs.count == 2)
        #expect(client.activeOperations == 2)
    }

    @Test func usersOfTwoScopesMayShareAStore() async throws {
        let fixture = CacheFixture(User("A").auth, responses: User.answer)
        let scope = Beagle.dependencies.scoped { $0.interceptors.replace(with: User("B").auth) }
        let other = NetworkClientDefault(dependencies: scope, transport: fixture.transport)
        #expect(await fixture.results(of: .storable()) == ["A"])
        #expect(try await other.run(.storable()).summary == "B")
        #expect(await fixture.results(of: .storable()) == ["stored A"])
        #expect(fixture.store.count == 2)
    }

    /// An app's interceptor that hides an `AuthInterceptor` from the pipeline.
    private struct AuthWrapper: Interceptor {
        let auth: AuthInterceptor<String>

        func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            try await auth.intercept(operation, next: next, emit: emit)
        }
    }

    @Test func unknownCredentialsNeedAPartition() async {
        let fixture = CacheFixture(AuthWrapper(auth: User("A").auth), responses: User.answer)
        #expect(await fixture.results(of: .storable()) == ["A"])
        #expect(fixture.store.count == 0)
    }

    @Test("a field that an interceptor adds is not in the key, above the cache or below", arguments: [true, false])
    func fieldOfAnInterceptorNeedsAPartition(isAbove: Bool) async throws {
        let user = Lock("A")
        let adding = ResponseInterceptor(at: isAbove ? .deadline : .headers) { message, next in
            var message = message
            message.head.headerFields[.authorization] = user.withLock { $0 }
            return try await next(message)
        }
        let fixture = CacheFixture(adding, responses: User.answer)
        #expect(await fixture.results(of: .storable()) == ["A"])
        #expect(fixture.store.count == (isAbove ? 1 : 0), "above, the cache sees the field")
        #expect(await fixture.results(of: .storable().of(partition: "A")) == ["A"])
        user.withLock { $0 = "B" }
        #expect(await fixture.results(of: .storable()) == ["B"])
        #expect(await fixture.results(of: .storable().of(partition: "B")) == ["B"])
        #expect(await fixture.results(of: .storable().of(partition: "A")) == ["stored A"])
    }

    @Test func changedPathNeedsAPartition() async {
        let adding = ResponseInterceptor { message, next in
            var message = message
            message.head.path? += "?access_token=A"
            return try await next(message)
        }
        let fixture = CacheFixture(adding)
        _ = await fixture.results(of: .storable())
        #expect(fixture.store.count == 0)
    }

    /// Adds a field to messages, and may declare that it is for tracing.
    private struct TraceFieldInterceptor: Interceptor {
        let isDeclared: Bool
        var place: Pipeline.Place? { .span }

        func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            guard let name = HTTPField.Name("b3") else { return try await next(operation, emit) }
            var operation = operation
            operation.transfer.head.headerFields[name] = "1"
            if isDeclared { operation.note(tracing: [name]) }
            return try await next(operation, emit)
        }
    }

    @Test(arguments: [true, false]) func traceFieldDoesNotIdentifyAUser(isDeclared: Bool) async {
        let fixture = CacheFixture(TraceFieldInterceptor(isDeclared: isDeclared))
        _ = await fixture.results(of: .storable())
        #expect(fixture.store.count == (isDeclared ? 1 : 0))
    }

    @Test func changedCredentialIsNotTheUsers() async {
        let changing = ResponseInterceptor(at: .headers) { message, next in
            var message = message
            message.head.headerFields[.authorization] = "B"
            return try await next(message)
        }
        let fixture = CacheFixture(User("A").auth, changing, responses: User.answer)
        #expect(await fixture.results(of: .storable()) == ["B"])
        #expect(fixture.store.count == 0)
    }

    /// Sets the partition of an operation after the key was created.
    private struct PartitionInterceptor: Interceptor {
        let user: Lock<String>
        var place: Pipeline.Place? { .requestPolicy }

        func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            var operation = operation
            operation.partition = user.withLock { $0 }
            return try await next(operation, emit)
        }
    }

    @Test func partitionThatIsSetTooLateIsIgnored() async {
        let user = Lock("A")
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let adding = ResponseInterceptor(at: .headers) { message, next in
            var message = message
            message.head.headerFields[.authorization] = user.withLock { $0 }
            return try await next(message)
        }
        let fixture = CacheFixture(PartitionInterceptor(user: user), adding, responses: User.answer)
        #expect(await fixture.results(of: .storable()) == ["A"])
        #expect(fixture.store.count == 0)
        #expect(logger.messages.contains { $0.contains("partition") })
        #expect(await fixture.results(of: .storable().of(partition: "A")) == ["A"])
        #expect(fixture.store.count == 1)
        user.withLock { $0 = "B" }
        #expect(await fixture.results(of: .storable()) == ["B"])
        #expect(await fixture.results(of: .storable().of(partition: "A")) == ["B"])
        #expect(
            await fixture.results(of: .storable(.component, .cacheOnly).of(partition: "A")) == ["failure: not_stored"]
        )
        user.withLock { $0 = "A" }
        #expect(await fixture.results(of: .storable().of(partition: "A")) == ["stored A"])
    }

    @Test func requestForCredentialsBelongsToNoUser() async {
        let slot = Lock<NetworkClientDefault?>(nil)
        let auth = AuthInterceptor<String>(
            .init(
                load: {
                    let client = slot.withLock { $0 }
                    _ = await Result { try await client?.run(.storable()) }
                    return "A"
                },
                attach: { token, head in head.headerFields[.authorization] = token }
            ),
            origins: [Origin(scheme: "http", host: "host")]
        )
        let fixture = CacheFixture(auth, responses: User.answer)
        slot.withLock { $0 = fixture.client }
        #expect(await fixture.results(of: .storable(.image)) == ["A"])
        #expect(await fixture.results(of: .storable()) == ["A"])
        slot.withLock { $0 = nil }
    }

    @Test func fieldOfTheRequestIsInTheKey() async {
        let fixture = CacheFixture(responses: User.answer)
        for name in ["A", "B"] {
            let operation = NetworkOperation.of(.component, headers: ["Authorization": name])
            #expect(await fixture.results(of: operation) == [name])
            #expect(await fixture.results(of: operation) == ["stored \(name)"])
        }
    }

    @Test func credentialsOfOptionsAreInTheKey() async throws {
        let fixture = CacheFixture(responses: { request in
            guard let authentication = request.options.authentication else { return .text("anonymous") }
            return .text(authentication == .bearer("A") ? "A" : "B")
        })
        for token in ["A", "B", nil] {
            var operation = NetworkOperation.storable()
            operation.request.options = TransferOptions()
            operation.request.options?.authentication = token.map { .bearer($0) }
            let text = token ?? "anonymous"
            #expect(await fixture.results(of: operation) == [text])
            #expect(await fixture.results(of: operation) == ["stored \(text)"])
        }
        #expect(fixture.requests == 3)
    }

    /// A transport with a cookie jar.
    private struct Jar: CookieTransport {
        let transport: ScriptedTransport
        let storesCookies: Bool

        func perform(
            _ request: TransferRequest,
            completion: @escaping ScriptedTransport.Completion
        ) -> any RequestToken {
            transport.perform(request, completion: completion)
        }
    }

    @Test(arguments: [true, false]) func requestWithPossibleCookiesNeedsAPartition(storesCookies: Bool) async {
        let fixture = CacheFixture(wrapping: { Jar(transport: $0, storesCookies: storesCookies) })
        _ = await fixture.results(of: .storable())
        #expect(fixture.store.count == (storesCookies ? 0 : 1))
        _ = await fixture.results(of: .storable().of(partition: "A"))
        var without = NetworkOperation.storable()
        without.request.options = TransferOptions()
        without.request.options?.usesCookies = false
        _ = await fixture.results(of: without)
        #expect(fixture.store.count == 2)
    }

    /// A transport that doesn't declare whether it stores cookies.
    private struct TransportWithoutCookieInformation: HTTPTransport {
        let transport: ScriptedTransport

        func perform(
            _ request: TransferRequest,
            completion: @escaping ScriptedTransport.Completion
        ) -> any RequestToken {
            transport.perform(request, completion: completion)
        }
    }

    @Test func transportWithoutCookieInformationNeedsAPartition() async {
        let fixture = CacheFixture(wrapping: { TransportWithoutCookieInformation(transport: $0) })
        _ = await fixture.results(of: .storable())
        #expect(fixture.store.count == 0)
        var without = NetworkOperation.storable()
        without.request.options = TransferOptions()
        without.request.options?.usesCookies = false
        _ = await fixture.results(of: without)
        #expect(fixture.store.count == 1)
    }

    @Test func curlTransportReportsItsCookieJar() {
        var configuration = CurlTransport.Configuration()
        #expect(!CurlTransport(configuration).storesCookies)
        configuration.cookies = CookieJar()
        #expect(CurlTransport(configuration).storesCookies)
    }

    @Test func responseWithACookieNeedsAPartition() async {
        let fixture = CacheFixture()
        fixture.respond(with: .text("1", [.setCookie: "a=1"]))
        _ = await fixture.results(of: .storable())
        #expect(fixture.store.count == 0)
        _ = await fixture.results(of: .storable().of(partition: "A"))
        #expect(fixture.store.count == 1)
    }

    @Test func responseThatMayNotBeStoredRemovesAnOlderOne() async {
        let fixture = CacheFixture()
        _ = await fixture.results(of: .storable())
        fixture.respond(with: .text("2", [.setCookie: "a=1"]))
        #expect(await fixture.results(of: .storable(.component, .networkOnly)) == ["2"])
        #expect(await fixture.results(of: .storable(.component, .cacheOnly)) == ["failure: not_stored"])
    }

    @Test func responseOfAnInterceptorNeedsAPartition() async {
        let fixture = CacheFixture(ScriptedRuns { _, _ in .init("1") })
        _ = await fixture.results(of: .storable())
        #expect(fixture.store.count == 0)
        #expect(await fixture.results(of: .storable().of(partition: "A")) == ["1"])
        #expect(await fixture.results(of: .storable().of(partition: "A")) == ["stored 1"])
    }

    @Test func reasonForNotStoringIsLogged() async {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let fixture = CacheFixture()
        fixture.respond(with: .text("1", [.setCookie: "session=secret"]))
        _ = await fixture.results(of: .storable())
        #expect(logger.messages.contains { $0.contains("partition") })
        #expect(!logger.messages.contains { $0.contains("secret") })
    }

    // MARK: - Concurrent operations

    @Test func networkOnlyDoesNotJoinAStoredResponse() async {
        let fixture = CacheFixture()
        _ = await fixture.results(of: .storable())
        fixture.respond(with: .text("2"))
        let events = EventRecorder()
        let inner = EventRecorder()
        // Starts a request inside the run that the store answers.
        let token = fixture.client.watch(.storable()) { [client = fixture.client] event in
            events.receive(event)
            if events.all.count == 1 { client.watch(.storable(.component, .networkOnly), inner.receive) }
        }
        await inner.waitForEvents(2)
        #expect(inner.all.last == "2")
        #expect(inner.all.dropLast().allSatisfy { $0 == "1 stale" })
        token?.cancel()
        fixture.client.endAll()
    }

    @Test("the response of a run that missed the store is from the network")
    func networkOnlyJoinsARunThatMissedTheStore() async throws {
        let held = HeldCompletion()
        let transport = held.transport()
        Beagle.dependencies.interceptors = [CacheInterceptor()]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        async let one = Result { try await client.run(.storable()).summary }
        await held.isHeld()
        async let other = Result { try await client.run(.storable(.component, .networkOnly)).summary }
        while client.activeSubscribers < 2 { await Task.yield() }
        held.complete(.text("1"))
        #expect(try await one.get() == "1")
        #expect(try await other.get() == "1")
        await client.isIdle()
        #expect(transport.requests.withLock { $0.count } == 1)
    }

    /// The reasons for which a stored response must pass through the coalescer.
    enum Obstacle: CaseIterable {
        case interceptor, slowStore
    }

    private func waiting(_ obstacle: Obstacle, _ held: HeldCompletion) -> (NetworkClientDefault, ScriptedTransport) {
        Beagle.dependencies.policy = .cacheFirst
        Beagle.dependencies.interceptors =
            switch obstacle {
            case .interceptor: [RecordingObserver(), CacheInterceptor()]
            case .slowStore: [CacheInterceptor(SlowStore())]
            }
        let transport = held.transport()
        return (NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport), transport)
    }

    @Test(
        "a request that accepts a stored response does not wait for the network",
        arguments: Obstacle.allCases,
        [RequestPolicy.networkOnly, .networkFirst, .cacheAndNetwork]
    )
    func storedResponseIsDeliveredDuringARun(obstacle: Obstacle, policy: RequestPolicy) async throws {
        let held = HeldCompletion()
        let (client, _) = waiting(obstacle, held)
        async let first = client.run(.storable())
        await held.isHeld()
        held.complete(.text("1"))
        _ = try await first
        await client.isIdle()
        client.watch(.storable(.component, policy)) { _ in }
        await held.isHeld()
        #expect(try await client.run(.storable()).summary == "stored 1")
        #expect(try await client.run(.storable(.component, .cacheOnly)).summary == "stored 1")
        let answer = await withCheckedContinuation { continuation in
            _ = client.executeRequest(NetworkOperation.storable().request) { continuation.resume(returning: $0) }
        }
        #expect(try String(decoding: answer.get().data, as: UTF8.self) == "1")
        client.endAll()
        #expect(client.activeOperations == 0)
    }

    @Test("a request with cacheOnly does not wait for the network", arguments: Obstacle.allCases)
    func missIsReportedDuringARun(obstacle: Obstacle) async throws {
        let held = HeldCompletion()
        let (client, _) = waiting(obstacle, held)
        async let first = client.run(.storable())
        await held.isHeld()
        let stored = await Result { try await client.run(.storable(.component, .cacheOnly)) }
        #expect(stored.failure?.kind == .notStored)
        let watched = EventRecorder()
        let watching = client.watch(.storable(.component, .cacheOnly), watched.receive)
        await watched.waitForEvents(1)
        #expect(watched.all == ["failure: not_stored"])
        let results = client.results(of: .storable(.component, .cacheOnly))
        let error = await Result {
            for try await _ in results { Issue.record("a result was delivered") }
        }.failure
        #expect(error?.kind == .notStored)
        held.complete(.text("1"))
        #expect(try await first.summary == "1")
        watching?.cancel()
        #expect(watched.all == ["failure: not_stored"])
    }

    @Test("other requests share the run", arguments: Obstacle.allCases)
    func requestJoinsTheRunAfterAMiss(obstacle: Obstacle) async throws {
        let held = HeldCompletion()
        let (client, transport) = waiting(obstacle, held)
        client.watch(.storable(.component, .networkOnly)) { _ in }
        await held.isHeld()
        async let one = client.run(.storable())
        async let other = client.run(.storable())
        while client.activeSubscribers < 3 { await Task.yield() }
        held.complete(.text("1"))
        #expect(try await [one.summary, other.summary] == ["1", "1"])
        #expect(transport.requests.withLock { $0.count } == 1)
    }

    @Test func expiredResponseIsNotDeliveredDuringARun() async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let held = HeldCompletion()
        let (client, transport) = waiting(.slowStore, held)
        Beagle.dependencies.interceptors.add(RequestPolicyInterceptor(ttl: .seconds(10)))
        async let first = client.run(.storable())
        await held.isHeld()
        held.complete(.text("1"))
        _ = try await first
        await client.isIdle()
        clock.advance(by: .seconds(10))
        client.watch(.storable(.component, .networkOnly)) { _ in }
        await held.isHeld()
        async let joining = client.run(.storable())
        while client.activeSubscribers < 2 { await Task.yield() }
        held.complete(.text("2"))
        #expect(try await joining.summary == "2")
        #expect(transport.requests.withLock { $0.count } == 2)
    }

    @Test func networkOnlyDoesNotAcceptAStaleFallback() async throws {
        let held = HeldCompletion()
        Beagle.dependencies.interceptors = [CacheInterceptor()]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: held.transport())
        async let stored = client.run(.storable())
        await held.isHeld()
        held.complete(.text("1"))
        _ = try await stored
        async let one = client.run(.storable(.component, .networkFirst))
        await held.isHeld()
        async let other = client.run(.storable(.component, .networkOnly))
        while client.activeSubscribers < 2 { await Task.yield() }
        held.complete(.failure(.lost))
        await held.isHeld()
        held.complete(.text("2"))
        #expect(try await one.summary == "stored 1 stale")
        #expect(try await other.summary == "2")
    }

    @Test func resultsEndWithAStaleFallback() async throws {
        let fixture = CacheFixture()
        _ = await fixture.results(of: .storable())
        fixture.respond(with: .failure(.lost))
        var events: [String] = []
        for try await result in fixture.client.results(of: .storable(.component, .networkFirst)) {
            events.append(result.summary)
        }
        #expect(events == ["stored 1 stale"])
    }

    @Test func refetchIsStoredAndDelivered() async {
        let fixture = CacheFixture()
        let events = EventRecorder()
        fixture.client.watch(.storable(), events.receive)
        await events.waitForEvents(1)
        fixture.respond(with: .text("2"))
        fixture.client.refetch(.cacheAndNetwork)
        await events.waitForEvents(3)
        #expect(events.all == ["1", "1 stale", "2"])
        #expect(await fixture.results(of: .storable()).last == "stored 2")
    }

    @Test func operationsOfAScopeAreStored() async throws {
        let fixture = CacheFixture()
        let screen = OperationScope()
        #expect(try await fixture.client.scoped(in: screen).run(.storable()).summary == "1")
        #expect(try await fixture.client.scoped(in: screen).run(.storable()).summary == "stored 1")
        screen.close()
        #expect(await fixture.results(of: .storable()) == ["stored 1"])
    }

    @Test func dependencyScopeMayHaveItsOwnStore() async throws {
        let fixture = CacheFixture()
        let own = MemoryResponseStore()
        let scope = Beagle.dependencies.scoped { $0.interceptors.replace(with: CacheInterceptor(own)) }
        let client = NetworkClientDefault(dependencies: scope, transport: fixture.transport)
        _ = await fixture.results(of: .storable())
        #expect(try await client.run(.storable()).summary == "1")
        #expect(fixture.requests == 2)
        #expect(own.count == 1)
        fixture.store.removeAll()
        #expect(try await client.run(.storable()).summary == "stored 1")
    }
}
