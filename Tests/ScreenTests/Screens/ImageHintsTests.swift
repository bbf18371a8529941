import BeagleNetTesting
import CurlPeers
import Testing

@testable import BeagleNet

/// Images that responses name in `Link` fields, over libcurl and real sockets.
@Suite(
    .leavesNothing,
    .beagle(.live) { $0.interceptors.add(CacheInterceptor(MemoryResponseStore())) },
    .timeLimit(.minutes(5))
)
struct ImageHintsTests {
    private static let image = Data("GIF89a".utf8) + Data([2, 0, 3, 0, 0, 0, 0, 0x3B])
    private static let screen = #"{"title":"home"}"#

    private let loader = ImageLoader()
    /// Servers end when they are released.
    private let servers = Lock<[LoopbackServer]>([])

    private static func link(_ paths: String...) -> String {
        paths.map { "<\($0)>; rel=preload; as=image" }.joined(separator: ", ")
    }

    /// A server of a screen, and of images for all other paths.
    private func server(
        images: LoopbackServer.Response = .response(200, ["Cache-Control": "max-age=60"], Self.image),
        onImage: @escaping @Sendable () -> Void = {},
        screen: LoopbackServer.Response
    ) throws -> LoopbackServer {
        let server = try LoopbackServer { request in
            if request.target == "/app/home" { return screen }
            onImage()
            return images
        }
        servers.withLock { $0.append(server) }
        Beagle.dependencies.environment = BeagleEnvironment(name: "test", baseURL: URL(string: server.url))
        return server
    }

    private func views(_ rules: ViewClient.PrefetchRules = ViewClient.PrefetchRules()) -> ViewClient {
        ViewClient(rules: rules, hintedImages: loader)
    }

    private func paths(_ server: LoopbackServer) -> Set<String> {
        Set(server.requests.map(\.target)).subtracting(["/app/home"])
    }

    /// Waits until a condition holds, or the time limit of the test has passed.
    private func until(_ condition: () -> Bool) async {
        while !condition(), !Task.isCancelled { await Task.yield() }
    }

    /// Waits until all hinted images have ended.
    private func wait(for count: Int, of views: ViewClient) async {
        await until { views.report().hinted >= count && loader.activeCount == 0 }
    }

    @Test func earlyHintStartsItsImageBeforeTheScreen() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try server(
            onImage: { gate.open() },
            screen: .sequence([
                .response(103, ["Link": Self.link("banner.gif")]), .gate(gate), .response(200, [:], Self.screen),
            ])
        )
        let views = views()
        let home = try await views.fetch("/app/home", as: JSONValue.self)
        #expect(home.screen["title"] == "home")
        await wait(for: 1, of: views)
        #expect(try await loader.image("/app/banner.gif").source == .cache)
        #expect(server.requests.map(\.target) == ["/app/home", "/app/banner.gif"])
        #expect(views.report().failedHints == 0)
    }

    @Test func headOfTheScreenStartsItsImageBeforeTheBody() async throws {
        let gate = try LoopbackServer.Gate()
        let link = Self.link("/a.gif")
        let head = "HTTP/1.1 200 OK\r\nLink: \(link)\r\nContent-Length: \(Self.screen.utf8.count)\r\n\r\n"
        let server = try server(
            onImage: { gate.open() },
            screen: .sequence([.raw(head), .gate(gate), .raw(Self.screen)])
        )
        _ = try await views().fetch("/app/home", as: JSONValue.self)
        #expect(paths(server) == ["/a.gif"])
    }

    @Test func viewJoinsAHintedImage() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try server(
            images: .sequence([.gate(gate), .response(200, [:], Self.image)]),
            screen: .response(200, ["Link": Self.link("/a.gif")], Self.screen)
        )
        _ = try await views().fetch("/app/home", as: JSONValue.self)
        await until { loader.activeCount == 1 }
        let task = loader.start(ImageRequest("/a.gif", priority: .high))
        #expect(loader.activeCount == 1)
        gate.open()
        #expect(try await task.image.data == Self.image)
        #expect(server.requests.count == 2)
    }

    @Test func hintsAreIgnoredByDefault() async throws {
        let link = Self.link("/a.gif")
        let server = try server(
            screen: .sequence([.response(103, ["Link": link]), .response(200, ["Link": link], Self.screen)])
        )
        let home = try await ViewClient().fetch("/app/home", as: JSONValue.self)
        #expect(home.response.interim.count == 1)
        #expect(server.requests.count == 1)
    }

    @Test func rulesLimitHints() async throws {
        var rules = ViewClient.PrefetchRules()
        rules.allows = { $0.path != "/logout" }
        rules.maxHints = 2
        let server = try server(
            screen: .sequence([
                .response(103, ["Link": Self.link("/logout", "file:///etc/passwd", "data:image/gif,x", "/a", "/a")]),
                .response(200, ["Link": Self.link("/a", "/b", "/c")], Self.screen),
            ])
        )
        let views = views(rules)
        _ = try await views.fetch("/app/home", as: JSONValue.self)
        await wait(for: 2, of: views)
        #expect(paths(server) == ["/a", "/b"])
        #expect(views.report().hinted == 2)
        rules.isNetworkSuitable = { false }
        let metered = self.views(rules)
        _ = try await metered.fetch("/app/home", as: JSONValue.self)
        #expect(metered.report().hinted == 0)
    }

    @Test func otherOriginsGetNoCredentials() async throws {
        let other = try LoopbackServer(.response(200, [:], Self.image))
        let server = try server(
            screen: .response(200, ["Link": Self.link("/own.gif", "\(other.url)/other.gif")], Self.screen)
        )
        Beagle.dependencies.httpRequestBuilder.additionalHeaders = ["Authorization": "Bearer secret"]
        let views = views()
        _ = try await views.fetch("/app/home", as: JSONValue.self)
        await wait(for: 2, of: views)
        #expect(server.requests.allSatisfy { $0["authorization"] == "Bearer secret" })
        #expect(other.requests.map(\.target) == ["/other.gif"])
        #expect(other.requests.map { $0["authorization"] } == [nil])
    }

    @Test func failedHintIsCounted() async throws {
        _ = try server(
            images: .response(404),
            screen: .response(200, ["Link": Self.link("/a", "/b")], Self.screen)
        )
        let views = views()
        #expect(try await views.fetch("/app/home", as: JSONValue.self).screen["title"] == "home")
        await until { views.report().failedHints == 2 }
        #expect(views.report().hinted == 2)
        #expect(views.report().wasted == 0)
    }

    @Test func prefetchedScreenStartsItsImagesWhenItIsOpened() async throws {
        let server = try server(screen: .response(200, ["Link": Self.link("/a.gif")], Self.screen))
        let views = views()
        #expect(views.prefetch(ScreenRequest("/app/home")))
        await until { views.pendingCount == 0 }
        #expect(server.requests.count == 1)
        #expect(try await views.fetch("/app/home", as: JSONValue.self).wasPrefetched)
        await wait(for: 1, of: views)
        #expect(paths(server) == ["/a.gif"])
    }

    @Test func failedScreenCancelsItsHints() async throws {
        let (gate, end) = (try LoopbackServer.Gate(), try LoopbackServer.Gate())
        _ = try server(
            images: .stall,
            onImage: { gate.open() },
            screen: .sequence([
                .response(103, ["Link": Self.link("/a.gif")]), .gate(gate), .gate(end), .response(404),
            ])
        )
        let views = views()
        let fetch = Task { try await views.fetch("/app/home", as: JSONValue.self) }
        await until { loader.activeCount == 1 }
        end.open()
        await #expect(throws: NetworkError.self) { try await fetch.value }
        #expect(loader.activeCount == 0)
        #expect(views.report().failedHints == 0)
    }

    @Test func imageThatTheAppCannotShowIsLeftOut() async throws {
        let loader = ImageLoader(formats: [.gif])
        let link = "</a>; rel=preload; as=image; type=image/avif, </b>; rel=preload; as=image; type=image/gif"
        let server = try server(screen: .response(200, ["Link": link], Self.screen))
        let views = ViewClient(hintedImages: loader)
        _ = try await views.fetch("/app/home", as: JSONValue.self)
        await until { views.report().hinted == 1 && loader.activeCount == 0 }
        #expect(paths(server) == ["/b"])
    }
}
