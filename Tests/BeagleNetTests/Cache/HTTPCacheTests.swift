import BeagleNet
import BeagleNetTesting
import CurlPeers
import Dispatch
import Testing
import TestClients

/// HTTP's own rules through the pipeline, with a scripted server and a clock that the test advances.
@Suite(.leavesNothing, .beagle(), .timeLimit(.minutes(5))) struct HTTPCacheTests {
    private let clock = ManualClock()
    private let store = MemoryResponseStore()

    init() {
        Beagle.dependencies.clock = clock
    }

    private typealias Server = @Sendable (TransferRequest) -> CacheFixture.Outcome

    private func fixture(servesStaleOffline: Bool = false, _ server: @escaping Server) -> CacheFixture {
        let fixture = CacheFixture(store: store, responses: server)
        var interceptors = Beagle.dependencies.interceptors
        interceptors.replace(with: CacheInterceptor(store, servesStaleOffline: servesStaleOffline))
        Beagle.dependencies.interceptors = interceptors
        return fixture
    }

    private func operation(
        _ method: String = "GET",
        _ path: String = "/a",
        _ fields: [String: String] = [:],
        policy: RequestPolicy? = nil
    ) -> NetworkOperation {
        let data = Request.RequestData(method: method, headers: fields)
        return NetworkOperation(
            Request(url: URL(string: "http://host\(path)")!, type: .rawRequest(data)),
            policy: policy
        )
    }

    private func text(_ fixture: CacheFixture, _ operation: NetworkOperation) async -> String {
        await Result { try await fixture.client.run(operation) }.summary
    }

    // MARK: - Freshness and validation

    @Test func freshResponseNeedsNoRequest() async throws {
        let fixture = fixture { _ in .text("1", [.cacheControl: "max-age=60"]) }
        #expect(await text(fixture, operation()) == "1")
        clock.advance(by: .seconds(59))
        let result = try await fixture.client.run(operation())
        #expect(result.summary == "stored 1")
        #expect(result.response?.response.headerFields[.age] == "59")
        #expect(result.response?.cacheStatus?.description == "hit; ttl=1")
        #expect(result.response?.cacheStatus?.age == .seconds(59))
        #expect(fixture.requests == 1)
        clock.advance(by: .seconds(1))
        #expect(await text(fixture, operation()) == "1")
        #expect(fixture.requests == 2)
    }

    @Test func storedResponseKeepsItsStatusIfItsHeadIsReplaced() async throws {
        let fixture = fixture { _ in .text("1", [.cacheControl: "max-age=60", .age: "7"]) }
        #expect(await text(fixture, operation()) == "1")
        var response = try #require(try await fixture.client.run(operation()).response)
        #expect(response.response.headerFields[values: .age] == ["7"])
        #expect(response.rawHead.contentLength == nil && !response.rawHead.isEncoded)
        response.response.headerFields[.age] = nil
        #expect(response.response.headerFields[.age] == nil)
        #expect(response.cacheStatus?.age == .seconds(7))
        var other = try #require(try await fixture.client.run(operation()).response)
        other.cacheStatus = nil
        #expect(other.cacheStatus == nil)
        #expect(other.response.headerFields[.age] == "7")
    }

    @Test func completionsOfStoredResponsesComeOneAfterTheOther() async {
        let fixture = fixture { _ in .text("1", [.cacheControl: "max-age=60"]) }
        #expect(await text(fixture, operation()) == "1")
        let (order, release) = (Lock<[Int]>([]), DispatchSemaphore(value: 0))
        await withCheckedContinuation { continuation in
            for number in 0...1_000 {
                fixture.client.executeRequest(operation().request) { _ in
                    if number == 0 { release.wait() }
                    order.withLock { $0.append(number) }
                    if number == 1_000 { continuation.resume() }
                }
            }
            release.signal()
        }
        #expect(order.withLock { $0 } == Array(0...1_000))
    }

    @Test func rawRequestWithoutALifetimeIsSentEachTime() async {
        let fixture = fixture { _ in .text("1") }
        for _ in 0..<2 { #expect(await text(fixture, operation()) == "1") }
        #expect(await text(fixture, operation(policy: .cacheFirst)) == "stored 1")
        #expect(fixture.requests == 2)
    }

    @Test(arguments: [
        ("ETag", "\"a\"", "If-None-Match"), ("Last-Modified", "Wed, 06 Nov 2024 08:49:37 GMT", "If-Modified-Since"),
        ("beagle-hash", "h1", "beagle-hash"),
    ])
    func staleResponseIsServedAfterTheServerConfirmsIt(name: String, value: String, condition: String) async throws {
        let validator = HTTPField.Name(name)!
        let fixture = fixture { request in
            if request.head.headerFields[.init(condition)!] == value {
                return .text("", status: 304, [.cacheControl: "max-age=5", .init("X-New")!: "1"])
            }
            return .text("1", [.cacheControl: "max-age=5", validator: value, .init("X-Old")!: "1"])
        }
        #expect(await text(fixture, operation()) == "1")
        clock.advance(by: .seconds(6))
        let confirmed = try await fixture.client.run(operation())
        #expect(confirmed.summary == "1")
        #expect(confirmed.response?.status == .ok)
        #expect(confirmed.response?.cacheStatus?.description == "fwd=stale; fwd-status=304")
        #expect(confirmed.response?.response.headerFields[.init("X-New")!] == "1")
        #expect(confirmed.response?.response.headerFields[.init("X-Old")!] == "1")
        clock.advance(by: .seconds(4))
        #expect(await text(fixture, operation()) == "stored 1")
        #expect(fixture.requests == 2)
    }

    @Test func networkFirstValidatesAndServesStaleIfTheServerIsUnreachable() async throws {
        let isReachable = Lock(true)
        let fixture = fixture { request in
            if !isReachable.withLock({ $0 }) { return .failure(.lost) }
            let isKnown = request.head.headerFields[.ifNoneMatch] == "\"a\""
            return isKnown ? .text("", status: 304) : .text("1", [.eTag: "\"a\"", .cacheControl: "max-age=60"])
        }
        // The default of screens.
        let screen = NetworkOperation(Request(url: URL(string: "http://host/a")!, type: .fetchComponent))
        #expect(await text(fixture, screen) == "1")
        #expect(await text(fixture, screen) == "1")
        #expect(fixture.requests == 2)
        clock.advance(by: .seconds(90))
        isReachable.withLock { $0 = false }
        let result = try await fixture.client.run(screen)
        #expect(result.summary == "stored 1 stale")
        #expect(result.response?.cacheStatus?.isStale == true)
        #expect(result.response?.response.headerFields[.age] == "90")
    }

    @Test func confirmationOfAResponseThatIsNotStoredIsFollowedByAPlainRequest() async {
        // The server confirms a tag that nothing stored has.
        let fixture = fixture { request in
            request.head.headerFields.contains(.ifNoneMatch)
                ? .text("", status: 304, [.eTag: "\"other\""])
                : .text(
                    request.head.headerFields[.acceptLanguage] ?? "",
                    [
                        .vary: "Accept-Language", .cacheControl: "max-age=60",
                        .eTag: "\"\(request.head.headerFields[.acceptLanguage] ?? "")\"",
                    ]
                )
        }
        for language in ["de", "fr"] {
            #expect(await text(fixture, operation("GET", "/a", ["Accept-Language": language])) == language)
        }
        #expect(fixture.requests == 3)
        #expect(await text(fixture, operation("GET", "/a", ["Accept-Language": "de"])) == "stored de")
        #expect(await text(fixture, operation("GET", "/a", ["Accept-Language": "FR"])) == "stored fr")
    }

    @Test func responseAfterARedirectIsValidatedEachTime() async {
        let fixture = fixture { request in
            var metrics = TransferMetrics()
            metrics.redirects = 1
            let isKnown = request.head.headerFields[.ifNoneMatch] == "\"a\""
            let head = HTTPResponse(
                status: isKnown ? .notModified : .ok,
                headerFields: [.eTag: "\"a\"", .cacheControl: "max-age=60"]
            )
            return .success(
                TransferResponse(head: head, body: HTTPBody(isKnown ? "" : "1"), url: "http://host/b", metrics: metrics)
            )
        }
        for _ in 0..<3 { #expect(await text(fixture, operation()) == "1") }
        #expect(fixture.requests == 3)
    }

    @Test func failingStatusIsServedFromTheStoreAsTheSameFailure() async {
        let fixture = fixture { _ in .text("gone", status: 410, [.cacheControl: "max-age=60"]) }
        for _ in 0..<2 {
            let error = await Result { try await fixture.client.run(operation()) }.failure
            #expect(error?.kind == .status)
            #expect(error?.response?.status == .gone)
            #expect(error?.data == Data("gone".utf8))
        }
        #expect(fixture.requests == 1)
    }

    @Test func onlyIfCachedWithoutAStoredResponseIs504() async {
        let fixture = fixture { _ in .text("1") }
        let error = await Result {
            try await fixture.client.run(operation("GET", "/a", ["Cache-Control": "only-if-cached"]))
        }.failure
        #expect(error?.response?.status == .gatewayTimeout)
        #expect(fixture.requests == 0)
    }

    @Test func headIsServedFromTheResponseToGet() async throws {
        let fixture = fixture { _ in .text("body", [.cacheControl: "max-age=60", .contentLength: "4"]) }
        _ = await text(fixture, operation())
        let head = try await fixture.client.run(operation("HEAD"))
        #expect(head.response?.data.isEmpty == true)
        #expect(head.response?.response.headerFields[.contentLength] == "4")
        #expect(fixture.requests == 1)
    }

    @Test func rangeIsServedFromTheStoredWhole() async throws {
        let fixture = fixture { _ in .text("0123456789", [.cacheControl: "max-age=60"]) }
        _ = await text(fixture, operation())
        let part = try await fixture.client.run(operation("GET", "/a", ["Range": "bytes=2-4"]))
        #expect(part.response?.status == .partialContent)
        #expect(part.response?.response.headerFields[.contentRange] == "bytes 2-4/10")
        #expect(part.summary == "stored 234")
        #expect(fixture.requests == 1)
    }

    @Test func partialResponseLeavesTheStoredWhole() async {
        let fixture = fixture { request in
            request.head.headerFields.contains(.range)
                ? .text("xx", status: 206, [.contentRange: "bytes 0-1/2", .cacheControl: "max-age=60"])
                : .text("0123456789", [.cacheControl: "max-age=5"])
        }
        _ = await text(fixture, operation())
        clock.advance(by: .seconds(9))
        #expect(await text(fixture, operation("GET", "/a", ["Range": "bytes=0-1"])) == "xx")
        #expect(await text(fixture, operation(policy: .cacheOnly)) == "stored 0123456789")
    }

    // MARK: - Stale responses

    @Test func staleWhileRevalidateAsksTheServerOnceInTheBackground() async {
        let count = Lock(0)
        let fixture = fixture { _ in
            let number = count.withLock {
                $0 += 1; return $0
            }
            return .text("\(number)", [.cacheControl: "max-age=5, stale-while-revalidate=60"])
        }
        #expect(await text(fixture, operation()) == "1")
        clock.advance(by: .seconds(6))
        #expect(await text(fixture, operation()) == "stored 1")
        while count.withLock({ $0 }) < 2 { await Task.yield() }
        var last = ""
        while last != "stored 2" { last = await text(fixture, operation()) }
        #expect(fixture.requests == 2)
    }

    @Test func failedRevalidationInTheBackgroundLeavesTheStoredResponse() async {
        let isReachable = Lock(true)
        let requestCount = Lock(0)
        let fixture = fixture { _ in
            requestCount.withLock { $0 += 1 }
            return isReachable.withLock { $0 }
                ? .text("1", [.cacheControl: "max-age=5, stale-while-revalidate=60"]) : .failure(.lost)
        }
        #expect(await text(fixture, operation()) == "1")
        clock.advance(by: .seconds(6))
        isReachable.withLock { $0 = false }
        #expect(await text(fixture, operation()) == "stored 1")
        while requestCount.withLock({ $0 }) < 2 { await Task.yield() }
        #expect(await text(fixture, operation()) == "stored 1")
    }

    @Test(arguments: [
        ("stale-if-error=60", "stored 1 stale"), ("stale-if-error=1", "failure: status"),
        ("private", "failure: status"),
    ])
    func staleIfErrorReplacesAnErrorOfTheServer(directive: String, expected: String) async {
        let isUp = Lock(true)
        let fixture = fixture { _ in
            isUp.withLock { $0 } ? .text("1", [.cacheControl: "max-age=5, \(directive)"]) : .text("", status: 503)
        }
        _ = await text(fixture, operation())
        clock.advance(by: .seconds(10))
        isUp.withLock { $0 = false }
        #expect(await text(fixture, operation()) == expected)
    }

    @Test(arguments: [true, false], ["max-age=5", "max-age=5, must-revalidate"])
    func staleResponsesAreServedOfflineIfTheAppSaysSo(servesStaleOffline: Bool, directives: String) async {
        let isUp = Lock(true)
        let fixture = fixture(servesStaleOffline: servesStaleOffline) { _ in
            isUp.withLock { $0 } ? .text("1", [.cacheControl: directives]) : .failure(.lost)
        }
        _ = await text(fixture, operation())
        clock.advance(by: .seconds(10))
        isUp.withLock { $0 = false }
        let isServed = servesStaleOffline && directives == "max-age=5"
        #expect(await text(fixture, operation()) == (isServed ? "stored 1 stale" : "failure: network"))
    }

    // MARK: - Invalidation

    @Test(arguments: [200, 303, 404])
    func successfulUnsafeRequestRemovesTheResponsesOfItsURLs(status: Int) async {
        let fixture = fixture { request in
            request.head.method == .get
                ? .text("1", [.cacheControl: "max-age=60"]) : .text("", status: status, [.contentLocation: "/b"])
        }
        for path in ["/a", "/b", "/c"] { _ = await text(fixture, operation("GET", path)) }
        _ = await text(fixture, operation("PUT"))
        #expect(fixture.store.count == (status == 404 ? 3 : 1))
    }

    @Test func clearSiteDataRemovesTheResponsesOfTheOrigin() async {
        let fixture = fixture { request in
            request.head.path == "/out"
                ? .text("", [.init("Clear-Site-Data")!: "\"cache\""]) : .text("1", [.cacheControl: "max-age=60"])
        }
        func operation(_ url: String) -> NetworkOperation {
            NetworkOperation(Request(url: URL(string: url)!, type: .rawRequest(.init())))
        }
        for url in ["https://host/a", "https://host/b", "https://other/a"] { _ = await text(fixture, operation(url)) }
        _ = await text(fixture, operation("https://host/out"))
        #expect(fixture.store.count == 1)
        #expect(await text(fixture, operation("https://other/a")) == "stored 1")
    }

    @Test func partsOfAQueryThatDoNotCountShareAResponse() async {
        let fixture = fixture { _ in
            .text("1", [.cacheControl: "max-age=60", .init("No-Vary-Search")!: "params=(\"utm\")"])
        }
        #expect(await text(fixture, operation("GET", "/a?q=1&utm=x")) == "1")
        #expect(await text(fixture, operation("GET", "/a?utm=y&q=1")) == "stored 1")
        #expect(await text(fixture, operation("GET", "/a?q=2")) == "1")
        #expect(fixture.requests == 2)
    }

    // MARK: - Users

    @Test func variantsOfOneUserDoNotReachAnother() async {
        let fixture = fixture { request in
            .text(
                request.head.headerFields[.authorization] ?? "anonymous",
                [.cacheControl: "max-age=60", .vary: "Accept"]
            )
        }
        let users = ["", "A", "B"]
        for user in users {
            let fields = user.isEmpty ? [:] : ["Authorization": user]
            for _ in 0..<2 {
                let body = await text(fixture, operation("GET", "/a", fields))
                #expect(body.hasSuffix(user.isEmpty ? "anonymous" : user))
            }
        }
        #expect(fixture.requests == 3)
    }

    @Test func partitionOutlivesATokenAndIsRemovedAtSignOut() async {
        let fixture = fixture { request in
            .text(request.head.headerFields[.authorization] ?? "", [.cacheControl: "max-age=60"])
        }
        func response(_ token: String, _ user: String) async -> String {
            await text(fixture, operation("GET", "/a", ["Authorization": token]).of(partition: user))
        }
        #expect(await response("t1", "ana") == "t1")
        #expect(await response("t2", "ana") == "stored t1")
        #expect(await response("t3", "ben") == "t3")
        fixture.store.removeAll(of: "ana")
        #expect(await response("t4", "ana") == "t4")
        #expect(await response("t5", "ben") == "stored t3")
    }

    @Test(arguments: [true, false]) func responseThatArrivesAfterSignOutIsNotStored(removesAll: Bool) async {
        let requests = Lock(0)
        let fixture = fixture { [store] _ in
            let number = requests.withLock { requests in
                requests += 1
                return requests
            }
            if number == 1 { removesAll ? store.removeAll() : store.removeAll(of: "ana") }
            return .text("\(number)", [.cacheControl: "max-age=60"])
        }
        let operation = operation().of(partition: "ana")
        #expect(await text(fixture, operation) == "1")
        #expect(await text(fixture, operation) == "2")
        #expect(await text(fixture, operation) == "stored 2")
    }

    @Test func partitionOfTheContainerIsThatOfItsOperations() async {
        let fixture = CacheFixture(Changing.adding(.cookie, "session=1"), store: store)
        fixture.respond(with: .text("1", [.cacheControl: "max-age=60"]))
        // The cookie's user isn't known.
        for _ in 0..<2 { #expect(await text(fixture, operation()) == "1") }
        Beagle.dependencies.partition = "ana"
        #expect(await text(fixture, operation()) == "1")
        #expect(await text(fixture, operation()) == "stored 1")
        #expect(await text(fixture, operation().of(partition: "ana")) == "stored 1")
        Beagle.dependencies.partition = "ben"
        #expect(await text(fixture, operation()) == "1")
        #expect(fixture.requests == 4)
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    fileprivate var summary: String {
        switch self {
        case .success(let result): result.summary
        case .failure(let error): "failure: \(error.kind.rawValue)"
        }
    }
}
