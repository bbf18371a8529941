import BeagleNetTesting
import CurlPeers
import Testing

@testable import BeagleNet

/// Scopes of screens over libcurl and real sockets.
@Suite(.leavesNothing, .beagle(.live), .timeLimit(.minutes(5))) struct ViewClientScopeTests {
    private let loader = ImageLoader()
    private let gate: LoopbackServer.Gate
    /// A server that answers when the gate is open.
    private let server: LoopbackServer

    init() throws {
        let gate = try LoopbackServer.Gate()
        self.gate = gate
        let link: KeyValuePairs = ["Link": "</hinted>; rel=preload; as=image"]
        server = try LoopbackServer { request in
            if request.target == "/hints" { return .response(200, link, #"{"title":"hints"}"#) }
            return .sequence([.gate(gate), .response(200, [:], #"{"title":"a"}"#)])
        }
        Beagle.dependencies.environment = BeagleEnvironment(name: "test", baseURL: URL(string: server.url))
    }

    private func until(_ condition: () -> Bool) async {
        while !condition(), !Task.isCancelled { await Task.yield() }
    }

    @Test func closingCancelsFetchesAndImages() async throws {
        let home = ViewClient().open("home", images: loader)
        let fetch = Task { try await home.fetch(ScreenRequest("/home"), as: JSONValue.self) }
        let image = home.image(ImageRequest("/a.gif"))
        await server.until { $0.requestCount == 2 }
        #expect(home.isLoading)
        home.close()
        let error = await #expect(throws: NetworkError.self) { try await fetch.value }
        #expect(error?.isCancelled == true)
        await #expect(throws: NetworkError.self) { try await image.image }
        await until { !home.isLoading }
        #expect(!home.isLoading)
        #expect(loader.activeCount == 0)
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func closedScopeLoadsNothing() async throws {
        let views = ViewClient()
        let home = views.open("home", images: loader)
        home.close()
        await #expect(throws: NetworkError.self) { try await home.fetch(ScreenRequest("/home"), as: JSONValue.self) }
        await #expect(throws: NetworkError.self) { try await home.image(ImageRequest("/a.gif")).image }
        #expect(!home.prefetch(ScreenRequest("/next")))
        #expect(home.isClosed)
        #expect(!server.requests.contains { $0.target == "/home" || $0.target == "/next" })
    }

    @Test(arguments: ["other", "home"])
    func closingCancelsPrefetchesOfThisScreenOnly(_ otherName: String) async throws {
        let views = ViewClient()
        let (home, other) = (views.open("home", images: loader), views.open(otherName, images: loader))
        #expect(home.prefetch(ScreenRequest("/own")))
        #expect(home.prefetch(ScreenRequest("/shared")))
        #expect(other.prefetch(ScreenRequest("/shared")))
        await server.until { $0.requestCount == 2 }
        home.close()
        #expect(views.pendingCount == 1)
        #expect(views.report(of: "home").wasted == 1)
        gate.open()
        #expect(try await other.fetch(ScreenRequest("/shared"), as: JSONValue.self).wasPrefetched)
    }

    @Test func transferThatAnotherScreenWaitsForGoesOn() async throws {
        let views = ViewClient()
        let (home, details) = (views.open("home", images: loader), views.open("details", images: loader))
        #expect(home.prefetch(ScreenRequest("/details")))
        let image = home.image(ImageRequest("/a.gif"))
        let sharedImage = details.image(ImageRequest("/a.gif"))
        await server.until { $0.requestCount == 2 }
        let fetch = Task { try await details.fetch(ScreenRequest("/details"), as: JSONValue.self) }
        await until { views.prefetches.waitingFetches == 1 }
        home.close()
        await #expect(throws: NetworkError.self) { try await image.image }
        #expect(loader.activeCount == 1)
        gate.open()
        #expect(try await fetch.value.wasPrefetched)
        // The server has no image.
        let error = await #expect(throws: NetworkError.self) { try await sharedImage.image }
        #expect(error?.kind == .decoding)
        #expect(server.requests.count == 2)
    }

    @Test func closingCancelsHintedImages() async throws {
        let home = ViewClient(hintedImages: loader).open("home", images: loader)
        _ = try await home.fetch(ScreenRequest("/hints"), as: JSONValue.self)
        await until { loader.activeCount == 1 }
        home.close()
        #expect(loader.activeCount == 0)
    }

    @Test func finishedImageLeavesItsScope() async throws {
        let home = ViewClient().open("home", images: loader)
        gate.open()
        let image = home.image(ImageRequest("/a.gif"))
        await #expect(throws: NetworkError.self) { try await image.image }
        await until { !home.isLoading }
        #expect(!home.isLoading)
    }

    @Test func formThatWasBegunIsSent() async throws {
        let home = ViewClient().open("home", images: loader)
        let client = Beagle.dependencies.networkClient
        let form = Task { try await client.submit(Request.FormData(method: .post, values: [:]), to: "/form") }
        await server.until { $0.requestCount == 1 }
        home.close()
        gate.open()
        _ = try await form.value
    }
}
