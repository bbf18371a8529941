@testable import BeagleNet
import BeagleNetTesting
import CurlPeers
import Testing
import TestClients

/// Screens and prefetches over libcurl and real sockets.
@Suite(
    .leavesNothing,
    .beagle(.live) { $0.interceptors.add(CacheInterceptor(MemoryResponseStore())) },
    .timeLimit(.minutes(5))
)
struct ViewClientTests {
    private struct Title: Codable, Sendable, Equatable { var title: String }

    private let views = ViewClient()
    /// Servers end when they are released.
    private let servers = Lock<[LoopbackServer]>([])

    private func server(
        _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { request in
            .response(200, [:], "{\"title\":\"\(request.target)\"}")
        }
    ) throws -> LoopbackServer {
        let server = try LoopbackServer(answer: answer)
        servers.withLock { $0.append(server) }
        Beagle.dependencies.environment = BeagleEnvironment(name: "test", baseURL: URL(string: server.url))
        return server
    }

    /// Waits until a screen's prefetches have ended.
    private func prefetch(_ views: ViewClient, _ paths: String...) async {
        for path in paths { #expect(views.prefetch(ScreenRequest(path))) }
        while views.pendingCount > 0 { await Task.yield() }
    }

    // MARK: - Fetching

    @Test func screenIsDecoded() async throws {
        _ = try server()
        let fetched = try await views.fetch("/home", as: Title.self)
        #expect(fetched.screen == Title(title: "/home"))
        #expect(fetched.source == .network)
        #expect(!fetched.wasPrefetched)
        #expect(try await views.fetch("/home", as: JSONValue.self).screen["title"] == "/home")
    }

    @Test func faultOfAScreenHasItsPlace() async throws {
        _ = try server { _ in .response(200, [:], "{\"title\":1}") }
        let error = await #expect(throws: NetworkError.self) { try await views.fetch("/home", as: Title.self) }
        #expect(error?.kind == .decoding)
        #expect(error?.message.contains("title") == true)
    }

    @Test(arguments: [RequestPolicy.cacheFirst, .cacheOnly])
    func storedScreenThatCannotBeDecodedIsFetchedOnceMore(_ policy: RequestPolicy) async throws {
        let count = Lock(0)
        let server = try server { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return .response(200, ["Cache-Control": "max-age=60"], isFirst ? "{\"name\":1}" : "{\"title\":\"new\"}")
        }
        _ = try await views.fetch("/home", as: JSONValue.self)
        let request = ScreenRequest("/home", policy: policy)
        if policy == .cacheOnly {
            await #expect(throws: NetworkError.self) { try await views.fetch(request, as: Title.self) }
            return
        }
        for _ in 0..<2 { #expect(try await views.fetch(request, as: Title.self).screen == Title(title: "new")) }
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0["if-none-match"] == nil })
    }

    @Test func storedScreenComesFirst() async throws {
        let count = Lock(0)
        _ = try server { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .response(200, [:], "{\"title\":\"\(number)\"}")
        }
        _ = try await views.fetch("/home", as: Title.self)
        let early = Lock<[ViewClient.FetchedScreen<Title>]>([])
        let request = ScreenRequest("/home", policy: .cacheAndNetwork)
        let fetched = try await views.fetch(request, as: Title.self) { screen in early.withLock { $0.append(screen) } }
        #expect(fetched.screen.title == "2")
        #expect(early.withLock { $0 }.map(\.screen.title) == ["1"])
        #expect(early.withLock { $0 }.first?.isStale == true)
        #expect(early.withLock { $0 }.first?.age != nil)
    }

    @Test func screenIsShownWithItsAgeIfTheServerIsGone() async throws {
        let server = try server()
        _ = try await views.fetch("/home", as: Title.self)
        server.stop()
        let fetched = try await views.fetch("/home", as: Title.self)
        #expect(fetched.isStale)
        #expect(fetched.age != nil)
        #expect(fetched.screen.title == "/home")
    }

    // MARK: - Prefetching

    @Test func prefetchedScreenIsUsedOnce() async throws {
        let server = try server()
        await prefetch(views, "/a")
        let first = try await views.fetch("/a", as: Title.self)
        #expect(first.wasPrefetched)
        #expect(first.screen.title == "/a")
        #expect(server.requests.count == 1)
        #expect(server.requests[0]["sec-purpose"] == "prefetch")
        let second = try await views.fetch("/a", as: Title.self)
        #expect(!second.wasPrefetched)
        #expect(server.requests.count == 2)
        #expect(server.requests[1]["sec-purpose"] == nil)
        let report = views.report()
        #expect(report.requested == 1)
        #expect(report.used == 1)
        #expect(report.usedBytes == first.response.data.count)
        #expect(report.unused == 0)
    }

    @Test func fetchTakesOverAPrefetchInFlight() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try server { _ in .sequence([.gate(gate), .response(200, [:], "{\"title\":\"a\"}")]) }
        #expect(views.prefetch(ScreenRequest("/a"), from: "home"))
        // A second request for the same prefetch changes nothing.
        #expect(views.prefetch(ScreenRequest("/a"), from: "home"))
        await server.until { $0.requestCount == 1 }
        let fetched = Task { try await views.fetch("/a", as: Title.self) }
        while views.prefetches.waitingFetches < 1 { await Task.yield() }
        gate.open()
        #expect(try await fetched.value.wasPrefetched)
        #expect(server.requests.count == 1)
        #expect(views.report(of: "home").requested == 1)
        #expect(views.report(of: "home").used == 1)
    }

    @Test func failedPrefetchDoesNotAffectTheFetch() async throws {
        let server = try server { request in
            request["sec-purpose"] == nil ? .response(200, [:], "{\"title\":\"a\"}") : .response(404)
        }
        await prefetch(views, "/a")
        #expect(try await views.fetch("/a", as: Title.self).screen.title == "a")
        #expect(server.requests.count == 2)
        #expect(views.report().wasted == 1)
    }

    @Test func prefetchThatCannotBeDecodedDoesNotAffectTheFetch() async throws {
        _ = try server { request in
            .response(200, [:], request["sec-purpose"] == nil ? "{\"title\":\"a\"}" : "<html>")
        }
        await prefetch(views, "/a")
        #expect(try await views.fetch("/a", as: Title.self).screen.title == "a")
    }

    @Test func wholeRequestAndUserAreCompared() async throws {
        let server = try server()
        await prefetch(views, "/a")
        var other = ScreenRequest("/a")
        other.additionalData.headers = ["X-Theme": "dark"]
        #expect(try await !views.fetch(other, as: Title.self).wasPrefetched)
        other = ScreenRequest("/a")
        other.partition = "b"
        #expect(try await !views.fetch(other, as: Title.self).wasPrefetched)
        other = ScreenRequest("/a", additionalData: HttpAdditionalData(httpData: .init(method: .POST)))
        #expect(try await !views.fetch(other, as: Title.self).wasPrefetched)
        #expect(server.requests.count == 4)
    }

    @Test(arguments: ["form", "clear", "signOut"]) func outdatedPrefetchIsNotUsed(_ reason: String) async throws {
        let server = try server { request in
            let fields: KeyValuePairs = request.target == "/clear" ? ["Clear-Site-Data": "\"prefetchCache\""] : [:]
            return .response(200, fields, "{\"title\":\"\(request.target)\"}")
        }
        await prefetch(views, "/a")
        let client = Beagle.dependencies.networkClient
        switch reason {
        case "form": _ = try await client.submit(Request.FormData(method: .post, values: [:]), to: "/form")
        case "clear": _ = try await client.fetch("/clear", as: JSONValue.self)
        default: views.removePrefetches()
        }
        #expect(try await !views.fetch("/a", as: Title.self).wasPrefetched)
        #expect(server.requests.count == (reason == "signOut" ? 2 : 3))
        #expect(views.report().wasted == 1)
        #expect(views.report().wastedBytes > 0)
    }

    @Test func prefetchOfAnotherUserOfTheBuilderIsNotUsed() async throws {
        let server = try server()
        Beagle.dependencies.httpRequestBuilder.additionalHeaders = ["Authorization": "Bearer a"]
        await prefetch(views, "/a")
        Beagle.dependencies.httpRequestBuilder.additionalHeaders = ["Authorization": "Bearer b"]
        #expect(try await !views.fetch("/a", as: Title.self).wasPrefetched)
        #expect(server.requests.map { $0["authorization"] } == ["Bearer a", "Bearer b"])
    }

    @Test func staleScreenIsNoPrefetch() async throws {
        let isBroken = Lock(false)
        _ = try server { request in
            isBroken.withLock { $0 } ? .response(503) : .response(200, [:], "{\"title\":\"a\"}")
        }
        Beagle.dependencies.interceptors.removeAll { $0 is RetryInterceptor }
        _ = try await views.fetch("/a", as: Title.self)
        isBroken.withLock { $0 = true }
        await prefetch(views, "/a")
        isBroken.withLock { $0 = false }
        let fetched = try await views.fetch("/a", as: Title.self)
        #expect(!fetched.wasPrefetched)
        #expect(!fetched.isStale)
    }

    @Test func cancelledFetchLeavesAPrefetchInFlight() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try server { _ in .sequence([.gate(gate), .response(200, [:], "{\"title\":\"a\"}")]) }
        #expect(views.prefetch(ScreenRequest("/a")))
        await server.until { $0.requestCount == 1 }
        let cancelled = Task { try await views.fetch("/a", as: Title.self) }
        while views.prefetches.waitingFetches < 1 { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: NetworkError.self) { try await cancelled.value }
        gate.open()
        #expect(try await views.fetch("/a", as: Title.self).wasPrefetched)
        #expect(server.requests.count == 1)
    }

    @Test func formOfAnotherOriginLeavesAPrefetch() async throws {
        _ = try server()
        let other = try LoopbackServer(.response(200))
        await prefetch(views, "/a")
        _ = try await Beagle.dependencies.networkClient
            .submit(Request.FormData(method: .post, values: [:]), to: other.url)
        #expect(try await views.fetch("/a", as: Title.self).wasPrefetched)
    }

    @Test func rulesRefusePrefetches() async throws {
        let server = try server()
        var rules = ViewClient.PrefetchRules()
        rules.allows = { $0.path != "/logout" }
        let views = ViewClient(rules: rules)
        #expect(!views.prefetch(ScreenRequest("/logout")))
        let post = HttpAdditionalData(httpData: .init(method: .POST))
        #expect(!views.prefetch(ScreenRequest("/a", additionalData: post)))
        rules.isNetworkSuitable = { false }
        #expect(!ViewClient(rules: rules).prefetch(ScreenRequest("/a")))
        rules = ViewClient.PrefetchRules()
        rules.maxPending = 0
        #expect(!ViewClient(rules: rules).prefetch(ScreenRequest("/a")))
        #expect(views.report().refused == 2)
        #expect(server.requests.isEmpty)
    }

    @Test func oldestPrefetchesMakeRoom() async throws {
        _ = try server { _ in .response(200, [:], "{\"title\":\"\(String(repeating: "x", count: 1_000))\"}") }
        var rules = ViewClient.PrefetchRules()
        rules.maxBytes = 2_500
        let views = ViewClient(rules: rules)
        for path in ["/a", "/b", "/c"] { await prefetch(views, path) }
        #expect(try await !views.fetch("/a", as: Title.self).wasPrefetched)
        #expect(try await views.fetch("/b", as: Title.self).wasPrefetched)
        #expect(try await views.fetch("/c", as: Title.self).wasPrefetched)
    }

    @Test(arguments: [429, 503]) func busyServerIsLeftAlone(_ status: Int) async throws {
        let server = try server { _ in .response(status) }
        Beagle.dependencies.interceptors.removeAll { $0 is RetryInterceptor }
        await prefetch(views, "/a")
        #expect(!views.prefetch(ScreenRequest("/b")))
        #expect(server.requests.count == 1)
    }

    @Test func screenThatMustNotBeStoredIsNotKept() async throws {
        let server = try server { _ in .response(200, ["Cache-Control": "no-store"], "{\"title\":\"a\"}") }
        await prefetch(views, "/a")
        #expect(try await !views.fetch("/a", as: Title.self).wasPrefetched)
        #expect(server.requests.count == 2)
    }

    @Test func planIsPrefetched() async throws {
        let server = try server()
        let screen = try ParsedScreen(
            parsing: Data(
                """
                {"_beagleComponent_": "beagle:container", "children": [
                  {"_beagleComponent_": "beagle:button", "onPress": [
                    {"_beagleAction_": "beagle:pushView",
                     "route": {"url": "/marked", "shouldPrefetch": true, "httpAdditionalData": {"headers": {"X-A": "1"}}}},
                    {"_beagleAction_": "beagle:pushView", "route": {"url": "/other"}}]},
                  {"_beagleComponent_": "beagle:image", "path": {"_beagleImagePath_": "remote", "url": "/image.gif"}}]}
                """.utf8
            )
        )
        let images = ImageLoader.Prefetcher(ImageLoader())
        #expect(views.prefetch(screen.plan, from: "home", images: images) == 1)
        while views.pendingCount + images.pendingCount > 0 { await Task.yield() }
        #expect(Set(server.requests.map(\.target)) == ["/marked", "/image.gif"])
        #expect(server.requests.first { $0.target == "/marked" }?["x-a"] == "1")
        var request = ScreenRequest("/marked")
        request.additionalData.headers = ["X-A": "1"]
        #expect(try await views.fetch(request, as: Title.self).wasPrefetched)
        #expect(views.report(of: "home").used == 1)
    }
}
