import BeagleNet
import BeagleNetTesting
import CurlPeers
import Testing

/// Screens for use without a network, over libcurl and real sockets.
@Suite(
    .leavesNothing,
    .beagle(.live) {
        $0.interceptors.add(CacheInterceptor(MemoryResponseStore()))
        $0.interceptors.removeAll { $0 is RetryInterceptor }
    },
    .timeLimit(.minutes(5))
)
struct OfflineSetTests {
    private let server: LoopbackServer
    private let isBroken = Lock(false)

    init() throws {
        let isBroken = isBroken
        server = try LoopbackServer { request in
            if isBroken.withLock({ $0 }) { return .response(503) }
            let json: KeyValuePairs = ["Content-Type": "application/json"]
            switch request.target {
            case "/guide": return .response(200, json, Self.screen(routes: ["/a", "/b"], images: ["/1.gif"]))
            case "/a": return .response(200, json, Self.screen(routes: ["/deep"], images: ["/1.gif", "/2.gif"]))
            case "/b": return .response(200, ["Cache-Control": "no-store"], Self.screen(routes: ["/guide"], images: []))
            case "/deep": return .response(200, json, Self.screen(routes: ["/guide"], images: []))
            case "/lazy", "/d3": return .response(200, json, #"{"_beagleComponent_": "beagle:text", "text": "lazy"}"#)
            case "/d0": return .response(200, json, Self.screen(routes: ["/d1"], images: [], lazy: "/part"))
            case "/d1", "/part": return .response(200, json, Self.screen(routes: ["/d2"], images: []))
            case "/d2": return .response(200, json, Self.screen(routes: ["/d3"], images: []))
            case "/many":
                return .response(200, json, Self.screen(routes: [], images: Array(repeating: "/1.gif", count: 10_001)))
            case "/2.gif": return .response(404)
            default: return .response(200, ["Content-Type": "image/gif"], "GIF89a")
            }
        }
        Beagle.dependencies.environment = BeagleEnvironment(name: "test", baseURL: URL(string: server.url))
    }

    private static func screen(routes: [String], images: [String], lazy: String = "/lazy") -> String {
        let routes = routes.map { route in
            """
            {"_beagleComponent_": "beagle:button", "onPress": [
             {"_beagleAction_": "beagle:pushView", "route": {"url": "\(route)"}}]}
            """
        }
        let images = images.map { image in
            """
            {"_beagleComponent_": "beagle:image", "path": {"_beagleImagePath_": "remote", "url": "\(image)"}}
            """
        }
        let lazy = [#"{"_beagleComponent_": "beagle:lazyComponent", "path": "\#(lazy)"}"#]
        let children = (routes + images + lazy).joined(separator: ", ")
        return #"{"_beagleComponent_": "beagle:container", "children": [\#(children)]}"#
    }

    @Test func setHasScreensLazyComponentsAndImagesToItsDepth() async throws {
        let set = ViewClient.OfflineSet("guide", routes: [ScreenRequest("/guide")])
        #expect(!set.isComplete)
        try await set.refresh()
        #expect(Set(set.parts.map(\.url)) == ["/guide", "/a", "/lazy", "/1.gif"])
        #expect(set.bytes > 0)
        // no-store isn't kept, and the set says so.
        #expect(set.missing.map(\.url).sorted() == ["/2.gif", "/b"])
        #expect(set.missing.first { $0.url == "/b" }?.error.kind == .notStored)
        #expect(set.missing.first { $0.url == "/2.gif" }?.error.kind == .status)
        #expect(set.missing.first { $0.url == "/2.gif" }?.parent == "/a")
        #expect(!set.isComplete)
        #expect(!server.requests.contains { $0.target == "/deep" })
        // Each is requested once, although several screens have it.
        #expect(server.requests.count(where: { $0.target == "/1.gif" }) == 1)
    }

    @Test func screenCountsAtItsSmallestDepth() async throws {
        // "/d2" is two routes away through "/d1", and one through the lazy component.
        let set = ViewClient.OfflineSet("d", routes: [ScreenRequest("/d0")], depth: 2, includesImages: false)
        try await set.refresh()
        #expect(set.parts.contains { $0.url == "/d3" }, "\(set.parts.map(\.url))")
    }

    @Test func referencesThatWereLeftOutAreMissing() async throws {
        let set = ViewClient.OfflineSet("many", routes: [ScreenRequest("/many")])
        try await set.refresh()
        #expect(!set.isComplete)
        #expect(set.missing.map(\.error.kind) == [.tooLarge])
        #expect(set.missing.first?.url == "/many")
    }

    @Test func cyclesEnd() async throws {
        let set = ViewClient.OfflineSet("guide", routes: [ScreenRequest("/deep")], depth: 10)
        try await set.refresh()
        #expect(set.parts.count(where: { $0.kind == .route }) == 3)
    }

    @Test func setIsUsedWithoutTheServer() async throws {
        let set = ViewClient.OfflineSet("deep", routes: [ScreenRequest("/deep")], depth: 0)
        try await set.refresh()
        #expect(set.isComplete)
        let count = server.requests.count
        isBroken.withLock { $0 = true }
        try await set.check()
        #expect(set.isComplete)
        #expect(server.requests.count == count)
        // A refresh that fails leaves what is there.
        try await set.refresh()
        #expect(set.isComplete)
        let screen = try await ViewClient().fetch("/deep", as: JSONValue.self)
        #expect(screen.isStale)
        #expect(screen.age != nil)
        isBroken.withLock { $0 = false }
        try await set.refresh()
        #expect(try await !ViewClient().fetch("/deep", as: JSONValue.self).isStale)
    }

    @Test func setOfAUserIsRemovedAtSignOut() async throws {
        var route = ScreenRequest("/deep")
        route.partition = "a"
        let set = ViewClient.OfflineSet("deep", routes: [route], depth: 0)
        try await set.refresh()
        #expect(set.isComplete)
        for case let cache as CacheInterceptor in Beagle.dependencies.interceptors {
            await cache.store.removeAll(of: "a")
        }
        try await set.check()
        #expect(set.parts.isEmpty)
        #expect(set.missing.map(\.error.kind) == [.notStored])
    }

    @Test func limitOnPartsIsReported() async throws {
        let set = ViewClient.OfflineSet("guide", routes: [ScreenRequest("/guide")], maxParts: 2)
        try await set.refresh()
        #expect(set.parts.count == 2)
        #expect(set.missing.contains { $0.error.kind == .tooLarge })
    }

    @Test func routesCanBeExcluded() async throws {
        let set = ViewClient.OfflineSet("guide", routes: [ScreenRequest("/guide")], allows: { $0.path != "/b" })
        try await set.refresh()
        #expect(!server.requests.contains { $0.target == "/b" })
        #expect(set.missing.map(\.url) == ["/2.gif"])
    }

    @Test func cancelledRefreshEnds() async throws {
        let set = ViewClient.OfflineSet("guide", routes: [ScreenRequest("/guide")])
        let work = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await set.refresh()
        }
        await #expect(throws: NetworkError.self) { try await work.value }
        #expect(!set.isComplete)
    }
}
