import BeagleNetTesting
import TestClients
import Testing

@testable import BeagleNet

/// The timing of screens, on a clock that only the test advances.
@Suite(.beagle { $0.environment = .example }, .timeLimit(.minutes(5))) struct ScreenTimingTests {
    private typealias Outcome = Result<NetworkOperation.Result, NetworkError>

    private let clock = ManualClock()
    private let runs = ScriptedRuns()
    private let views: ViewClient
    /// Loads one image at a time.
    private let loader: ImageLoader
    private let home: ViewClient.Scope

    init() {
        Beagle.dependencies.clock = clock
        let client = client(runs)
        var limits = ImageLoader.Limits()
        limits.transfers = 1
        views = ViewClient(client: client)
        loader = ImageLoader(client: client, limits: limits)
        home = views.open("home", images: loader)
    }

    private static func screen(_ source: NetworkOperation.Result.Source = .network, queued: Int = 0) -> Outcome {
        response(Data("{}".utf8), source, queued)
    }

    private static func image(_ source: NetworkOperation.Result.Source = .network, queued: Int = 0) -> Outcome {
        response(Data("GIF89a".utf8) + Data([2, 0, 3, 0, 0, 0, 0, 0x3B]), source, queued)
    }

    private static func response(_ data: Data, _ source: NetworkOperation.Result.Source, _ queued: Int) -> Outcome {
        var metrics = TransferMetrics()
        metrics.queued = .milliseconds(queued)
        return .success(.init(NetworkResponse(data: data, metrics: metrics), from: source))
    }

    private func request(_ target: String, _ policy: RequestPolicy? = .networkOnly) -> ImageRequest {
        var request = ImageRequest(target)
        request.policy = policy
        return request
    }

    private func until(_ condition: () -> Bool) async {
        while !condition(), !Task.isCancelled { await Task.yield() }
    }

    /// Ends the next request after this time.
    private func respond(after milliseconds: Int, _ outcome: Outcome) async {
        let run = await runs.next()
        clock.advance(by: .milliseconds(milliseconds))
        run.finish(outcome)
    }

    private func fetch(_ target: String, in scope: ViewClient.Scope) -> Task<
        ViewClient.FetchedScreen<JSONValue>, any Error
    > {
        Task { try await scope.fetch(ScreenRequest(target), as: JSONValue.self) }
    }

    @Test func timesCountFromTheTap() async throws {
        clock.advance(by: .milliseconds(10))
        let screen = fetch("/home", in: home)
        await respond(after: 100, Self.screen())
        _ = try await screen.value
        let image = home.image(request("/a.gif"))
        await respond(after: 50, Self.image())
        _ = try await image.image
        let lazy = fetch("/lazy", in: home)
        await respond(after: 40, .failure(.lost))
        await #expect(throws: NetworkError.self) { try await lazy.value }

        let timing = try await home.timing
        #expect(timing.name == "home")
        #expect(timing.screen == .milliseconds(110))
        #expect(timing.lastImage == .milliseconds(160))
        #expect(timing.lastLazy == .milliseconds(200))
        #expect(timing.ready == .milliseconds(200))
        #expect(timing.loads.map(\.kind) == [.screen, .image, .lazy])
        #expect(timing.loads.map(\.target) == ["/home", "/a.gif", "/lazy"])
        #expect(timing.loads.map(\.cause) == [.network, .network, nil])
        #expect(timing.loads.map(\.begin) == [.milliseconds(10), .milliseconds(110), .milliseconds(160)])
        #expect(timing.loads.map(\.duration) == [.milliseconds(100), .milliseconds(50), .milliseconds(40)])
        #expect(timing.loads.map(\.error?.kind) == [nil, nil, .network])
        #expect(timing.loads.allSatisfy { $0.waiting == .zero && $0.stored == nil })
    }

    @Test func secondAttemptIsTheScreen() async throws {
        for (outcome, time) in [(.failure(.lost), 30), (Self.screen(), 20)] as [(Outcome, Int)] {
            let screen = fetch("/home", in: home)
            await respond(after: time, outcome)
            _ = await screen.result
        }
        let timing = try await home.timing
        #expect(timing.loads.map(\.kind) == [.screen, .screen])
        #expect(timing.screen == .milliseconds(50))
        #expect(timing.lastImage == nil)
        #expect(timing.lastLazy == nil)
    }

    @Test func timeInTheQueueIsWaiting() async throws {
        let first = home.image(request("/a.gif"))
        let run = await runs.next()
        let second = home.image(request("/b.gif"))
        await until { loader.waitingCount == 1 }
        let cancelled = home.image(request("/c.gif"))
        await until { loader.waitingCount == 2 }
        clock.advance(by: .milliseconds(10))
        cancelled.cancel()
        clock.advance(by: .milliseconds(20))
        run.finish(Self.image())
        _ = try await first.image
        await respond(after: 40, Self.image())
        _ = try await second.image

        let loads = try await home.timing.loads
        #expect(loads.map(\.waiting) == [.zero, .milliseconds(30), .milliseconds(10)])
        #expect(loads.map(\.duration) == [.milliseconds(30), .milliseconds(70), .milliseconds(10)])
        #expect(loads[2].error?.isCancelled == true)
    }

    @Test(arguments: [(30, 30), (70, 50)])
    func timeWithoutAConnectionIsWaiting(_ queued: Int, _ waiting: Int) async throws {
        let image = home.image(request("/a.gif"))
        await respond(after: 50, Self.image(queued: queued))
        _ = try await image.image
        let screen = fetch("/home", in: home)
        await respond(after: 50, Self.screen(queued: queued))
        _ = try await screen.value
        #expect(try await home.timing.loads.map(\.waiting) == [.milliseconds(waiting), .milliseconds(waiting)])
    }

    @Test func storedResultsHaveTheirCause() async throws {
        let screen = fetch("/home", in: home)
        await respond(after: 1, Self.screen(.cache))
        _ = try await screen.value
        let image = home.image(request("/a.gif", .cacheFirst))
        await respond(after: 1, Self.image(.cache))
        _ = try await image.image
        let lazy = fetch("/lazy", in: home)
        var unreachable = NetworkOperation.Result("{}", from: .cache, isStale: true)
        unreachable.note(.stale, isStale: true)
        await respond(after: 10, .success(unreachable))
        _ = try await lazy.value
        #expect(try await home.timing.loads.map(\.cause) == [.store, .store, .network])
    }

    @Test func earlyStoredResultHasItsTime() async throws {
        let early = Lock(0)
        let screen = Task {
            try await home.fetch(ScreenRequest("/home"), as: JSONValue.self) { _ in early.withLock { $0 += 1 } }
        }
        let run = await runs.next()
        clock.advance(by: .milliseconds(5))
        run.emit(.init("{}", from: .cache, isStale: true))
        await until { early.withLock { $0 } == 1 }
        clock.advance(by: .milliseconds(95))
        run.finish(Self.screen())
        _ = try await screen.value
        let image = home.image(request("/a.gif", .cacheAndNetwork))
        await respond(after: 1, Self.image(.cache))
        await respond(after: 19, Self.image())
        _ = try await image.image

        let loads = try await home.timing.loads
        #expect(loads.map(\.stored) == [.milliseconds(5), .milliseconds(101)])
        #expect(loads.map(\.end) == [.milliseconds(100), .milliseconds(120)])
        #expect(loads.map(\.cause) == [.network, .network])
    }

    @Test func adoptedPrefetchesHaveTheirCause() async throws {
        #expect(home.prefetch(ScreenRequest("/details")))
        let prefetch = await runs.next()
        var hinted = request("/a.gif")
        hinted.priority = .prefetch
        _ = loader.start(hinted)
        let hint = await runs.next()
        clock.advance(by: .milliseconds(100))
        let details = views.open("details", images: loader)
        let screen = fetch("/details", in: details)
        await until { views.prefetches.waitingFetches == 1 }
        let image = details.image(request("/a.gif"))
        clock.advance(by: .milliseconds(20))
        prefetch.finish(Self.screen())
        _ = try await screen.value
        clock.advance(by: .milliseconds(10))
        hint.finish(Self.image())
        _ = try await image.image

        let timing = try await details.timing
        #expect(timing.loads.map(\.cause) == [.prefetch, .prefetch])
        #expect(timing.screen == .milliseconds(20))
        #expect(timing.lastImage == .milliseconds(30))
    }

    @Test func laterLoadsDoNotCount() async throws {
        #expect(try await home.timing.loads.isEmpty)
        for target in ["/a.gif", "/b.gif"] {
            let image = home.image(request(target))
            await respond(after: 10, Self.image())
            _ = try await image.image
            #expect(try await home.timing.loads.map(\.target) == ["/a.gif"])
        }
        #expect(try await home.timing.ready == .milliseconds(10))
    }

    @Test func closedScreenHasCancelledLoads() async throws {
        let screen = fetch("/home", in: home)
        _ = home.image(request("/a.gif"))
        _ = await (runs.next(), runs.next())
        let timing = Task { try await home.timing }
        home.close()
        _ = await screen.result
        #expect(try await timing.value.loads.allSatisfy { $0.error?.isCancelled == true })
    }

    @Test func cancelledReaderGetsNoTiming() async throws {
        let image = home.image(request("/a.gif"))
        let timing = Task { try await home.timing }
        timing.cancel()
        let error = await #expect(throws: NetworkError.self) { try await timing.value }
        #expect(error?.isCancelled == true)
        image.cancel()
    }

    @Test func targetsHaveNoSecrets() async throws {
        for target in ["/a.gif?access_token=4f8b1c2d9e", "data:image/gif;base64,R0lGODlh"] {
            home.image(request(target)).cancel()
        }
        #expect(try await home.timing.loads.map(\.target) == ["/a.gif?access_token=REDACTED", "data:"])
    }
}
