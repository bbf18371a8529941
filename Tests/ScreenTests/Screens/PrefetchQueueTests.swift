import BeagleNetTesting
import CurlPeers
import TestClients
import Testing

@testable import BeagleNet

/// Prefetches that wait for other loads, on a clock that only the test advances.
@Suite(.beagle { $0.environment = .example }, .timeLimit(.minutes(5))) struct PrefetchQueueTests {
    private let clock = ManualClock()
    private let runs = ScriptedRuns()
    private let views: ViewClient
    private let loader: ImageLoader

    init() {
        Beagle.dependencies.clock = clock
        let client = client(runs)
        views = ViewClient(client: client)
        loader = ImageLoader(client: client)
    }

    private func views(_ change: (inout ViewClient.PrefetchRules) -> Void) -> ViewClient {
        var rules = ViewClient.PrefetchRules()
        change(&rules)
        return ViewClient(client: client(runs), rules: rules)
    }

    private func fetch(_ target: String, _ views: ViewClient? = nil) -> Task<
        ViewClient.FetchedScreen<JSONValue>, any Error
    > {
        Task { [views = views ?? self.views] in try await views.fetch(ScreenRequest(target), as: JSONValue.self) }
    }

    /// Begins a fetch, and prefetches screens that wait for it.
    private func beginFetch(prefetching targets: String..., in views: ViewClient? = nil) async -> ScriptedRuns.Run {
        let views = views ?? self.views
        _ = fetch("/home", views)
        let run = await runs.next()
        for target in targets { #expect(views.prefetch(ScreenRequest(target), from: "home")) }
        return run
    }

    /// Lets the idle time pass after the last load has ended.
    private func passIdleTime() async {
        while clock.nextWait != .milliseconds(100), !Task.isCancelled { await Task.yield() }
        clock.advance(by: .milliseconds(100))
    }

    @Test func prefetchesWaitForAFetchAndTheIdleTime() async throws {
        let home = await beginFetch(prefetching: "/a", "/b", "/c")
        #expect(runs.count == 1)
        home.finish("{}")
        while clock.nextWait != .milliseconds(100) { await Task.yield() }
        clock.advance(by: .milliseconds(99))
        #expect(runs.count == 1)
        clock.advance(by: .milliseconds(1))
        // Two at a time, in order.
        let first = [await runs.next(), await runs.next()]
        #expect(Set(first.map(\.path)) == ["/a", "/b"])
        #expect(first.allSatisfy { $0.isPrefetch && $0.operation.transfer.priorityControl?.priority == .prefetch })
        #expect(runs.count == 3)
        first[0].finish("{}")
        #expect(await runs.next().path == "/c")
    }

    @Test func idleClientPrefetchesImmediately() async throws {
        #expect(views.prefetch(ScreenRequest("/a")))
        #expect(await runs.next().path == "/a")
    }

    @Test func eachFetchBeginsTheIdleTimeAgain() async throws {
        let home = await beginFetch(prefetching: "/a")
        home.finish("{}")
        while clock.nextWait != .milliseconds(100) { await Task.yield() }
        clock.advance(by: .milliseconds(60))
        let second = fetch("/second")
        await runs.next().finish("{}")
        _ = try await second.value
        clock.advance(by: .milliseconds(60))
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .milliseconds(40))
        #expect(runs.count == 2)
        clock.advance(by: .milliseconds(40))
        #expect(await runs.next().path == "/a")
    }

    @Test func prefetchInFlightGoesOnBesideAFetch() async throws {
        #expect(views.prefetch(ScreenRequest("/a")))
        #expect(views.prefetch(ScreenRequest("/b")))
        #expect(views.prefetch(ScreenRequest("/c")))
        let running = [await runs.next(), await runs.next()]
        let home = fetch("/home")
        let homeRun = await runs.next()
        for run in running { run.finish("{}") }
        while views.pendingCount > 1 { await Task.yield() }
        #expect(runs.cancels == 0)
        #expect(runs.count == 3)
        homeRun.finish("{}")
        _ = try await home.value
        await passIdleTime()
        #expect(await runs.next().path == "/c")
        #expect(try await fetch("/a").value.wasPrefetched)
    }

    @Test(arguments: [Priority.normal, .prefetch]) func imageThatAViewWantsHoldsPrefetches(_ priority: Priority) async {
        var request = ImageRequest("/a.gif", priority: priority)
        request.policy = .networkOnly
        let image = loader.start(request)
        _ = await runs.next()
        #expect(views.prefetch(ScreenRequest("/a")))
        if priority == .prefetch {
            #expect(await runs.next().path == "/a")
            // A view requests the image.
            image.raise(to: .normal)
            #expect(views.prefetch(ScreenRequest("/b")))
        }
        #expect(views.pendingCount == 1 + (priority == .prefetch ? 1 : 0))
        #expect(runs.count == (priority == .prefetch ? 2 : 1))
        image.cancel()
        await passIdleTime()
        #expect(await runs.next().path == (priority == .prefetch ? "/b" : "/a"))
    }

    @Test func prefetchedImagesWaitForAFetch() async throws {
        let prefetcher = ImageLoader.Prefetcher(loader)
        let home = await beginFetch()
        prefetcher.prefetch(["/a.gif"])
        #expect(prefetcher.pendingCount == 1)
        #expect(loader.activeCount == 0)
        home.finish("{}")
        await passIdleTime()
        let run = await runs.next()
        #expect(run.path == "/a.gif")
        prefetcher.stop()
    }

    @Test func longLoadHoldsPrefetchesForTenSeconds() async throws {
        _ = await beginFetch(prefetching: "/a")
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .seconds(10))
        clock.advance(by: .seconds(10))
        #expect(await runs.next().path == "/a")
    }

    @Test func waitingPrefetchThatIsTappedIsFetchedImmediately() async throws {
        _ = await beginFetch(prefetching: "/a", "/b")
        let tapped = fetch("/b")
        let run = await runs.next()
        #expect(run.path == "/b")
        #expect(!run.isPrefetch)
        #expect(run.operation.transfer.priorityControl?.priority == .interactive)
        run.finish(#"{"title":"b"}"#)
        #expect(try await !tapped.value.wasPrefetched)
        #expect(runs.count == 2)
        let report = views.report(of: "home")
        #expect(report.overtaken == 1)
        #expect(report.unused == 1)
        #expect(views.pendingCount == 1)
    }

    @Test func waitingPrefetchesAreBounded() async throws {
        let views = views { $0.maxPending = 2 }
        _ = await beginFetch(prefetching: "/a", "/b", in: views)
        #expect(!views.prefetch(ScreenRequest("/c"), from: "home"))
        #expect(views.report(of: "home").refused == 1)
    }

    /// A reason not to send prefetches that are waiting.
    enum Reason: CaseIterable {
        case closed, removed, released, tooOld, otherUser, metered, busyPrefetch, busyFetch
    }

    @Test(arguments: Reason.allCases) func waitingPrefetchIsDropped(_ reason: Reason) async throws {
        let isMetered = Lock(false)
        var views: ViewClient? = views { rules in
            rules.maxRunning = 1
            rules.isNetworkSuitable = { isMetered.withLock { !$0 } }
        }
        let busy = reason == .busyPrefetch ? views?.prefetch(ScreenRequest("/busy")) : nil
        let running = busy == true ? await runs.next() : nil
        let home = Task { [views] in try await views?.fetch(ScreenRequest("/home"), as: JSONValue.self) }
        let homeRun = await runs.next()
        var scope = views?.open("home", images: loader)
        #expect(scope?.prefetch(ScreenRequest("/a")) == true)
        #expect(views?.report(of: "home").unused == 1)
        let before = runs.count
        switch reason {
        case .closed: scope?.close()
        case .removed: views?.removePrefetches()
        case .released, .metered, .busyFetch: break
        case .tooOld: clock.advance(by: .seconds(61))
        case .otherUser: Beagle.dependencies.partition = "other"
        case .busyPrefetch: running?.finish(.failure(.status(429)))
        }
        if reason == .metered { isMetered.withLock { $0 = true } }
        homeRun.finish(reason == .busyFetch ? .failure(.status(503)) : .success(.init("{}")))
        _ = await home.result
        if reason == .released {
            (views, scope) = (nil, nil)
            while clock.nextWait != nil { await Task.yield() }
        }
        while let views, views.pendingCount > 0 {
            if let wait = clock.nextWait { clock.advance(by: wait) }
            await Task.yield()
        }
        #expect(runs.count == before)
        if let views { #expect(views.report(of: "home") == ViewClient.PrefetchReport(requested: 1, dropped: 1)) }
    }

    @Test func changeBeforeAPrefetchIsSentDoesNotOutdateIt() async throws {
        Beagle.dependencies.interceptors = [CacheInterceptor(MemoryResponseStore()), runs]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: ScriptedTransport())
        let views = ViewClient(client: client)
        let home = await beginFetch(prefetching: "/a", in: views)
        let form = Task { try await client.submit(Request.FormData(method: .post, values: [:]), to: "/form") }
        await runs.next().finish("{}")
        _ = try await form.value
        home.finish("{}")
        await passIdleTime()
        await runs.next().finish("{}")
        #expect(try await fetch("/a", views).value.wasPrefetched)
    }

    @Test func prefetchThatIsTooOldIsNotUsed() async throws {
        #expect(views.prefetch(ScreenRequest("/a")))
        await runs.next().finish("{}")
        while views.pendingCount > 0 { await Task.yield() }
        clock.advance(by: .seconds(61))
        let fetch = fetch("/a")
        await runs.next().finish("{}")
        #expect(try await !fetch.value.wasPrefetched)
    }
}

/// Prefetches beside other requests of the client, over libcurl and real sockets.
@Suite(.leavesNothing, .beagle(.live), .timeLimit(.minutes(5))) struct PrefetchBesideRequestsTests {
    private let clock = ManualClock()

    @Test(arguments: ["form", "action", "stream"]) func requestOfTheClientHoldsPrefetches(_ kind: String) async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer { request in
            .sequence((request.target == "/held" ? [.gate(gate)] : []) + [.response(200, [:], "{}")])
        }
        Beagle.dependencies.clock = clock
        Beagle.dependencies.environment = BeagleEnvironment(name: "test", baseURL: URL(string: server.url))
        let client = Beagle.dependencies.networkClient
        let url = try #require(URL(string: "\(server.url)/held"))
        let views = ViewClient()
        _ = try await views.fetch("/first", as: JSONValue.self)
        clock.advance(by: .milliseconds(100))
        let held = Task {
            switch kind {
            case "form": _ = try await client.submit(Request.FormData(method: .post, values: [:]), to: "/held")
            case "action": _ = try await client.send(Request(url: url, type: .rawRequest(.init(method: "POST"))))
            default: _ = try await client.stream(Request(url: url, type: .rawRequest(.init()))).collect()
            }
        }
        await server.until { $0.requestCount == 2 }
        #expect(views.prefetch(ScreenRequest("/a")))
        if kind == "stream" {
            await server.until { $0.requestCount == 3 }
            gate.open()
            try await held.value
            return
        }
        while clock.nextWait == nil, !Task.isCancelled { await Task.yield() }
        #expect(clock.nextWait == .seconds(10))
        gate.open()
        try await held.value
        while clock.nextWait != .milliseconds(100), !Task.isCancelled { await Task.yield() }
        #expect(server.requests.count == 2)
        clock.advance(by: .milliseconds(100))
        await server.until { $0.requestCount == 3 }
        #expect(server.requests.last?.target == "/a")
        while views.pendingCount > 0, !Task.isCancelled { await Task.yield() }
    }
}

extension ScriptedRuns.Run {
    fileprivate var path: String { operation.request.url.path }
    fileprivate var isPrefetch: Bool { operation.transfer.head.headerFields[.init("Sec-Purpose")!] == "prefetch" }
}
