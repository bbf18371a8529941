import BeagleNet
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Images over libcurl and real sockets.
@Suite(
    .leavesNothing,
    .beagle(.live) { $0.interceptors.add(CacheInterceptor(MemoryResponseStore())) },
    .timeLimit(.minutes(5))
)
struct ImageLoaderTests {
    private let loader = ImageLoader()
    /// A GIF of 2 x 3 pixels.
    private static let image = Data("GIF89a".utf8) + Data([2, 0, 3, 0, 0, 0, 0, 0x3B])

    private static func serving(_ fields: KeyValuePairs<String, String> = ["Cache-Control": "max-age=60"])
        -> LoopbackServer.Response
    {
        .response(200, fields, image)
    }

    /// Serves the image after the gate is open.
    private func gatedServer() throws -> (server: LoopbackServer, gate: LoopbackServer.Gate) {
        let gate = try LoopbackServer.Gate()
        return (try LoopbackServer { _ in .sequence([.gate(gate), Self.serving()]) }, gate)
    }

    @Test func imageIsLoadedOnceAndThenFromTheStore() async throws {
        let server = try LoopbackServer(Self.serving())
        let first = try await loader.image("\(server.url)/a.gif")
        #expect(first.data == Self.image)
        #expect(first.format == .gif)
        #expect(first.header?.width == 2)
        #expect(first.source == .network)
        #expect(first.url == "\(server.url)/a.gif")
        let second = try await loader.image("\(server.url)/a.gif")
        #expect(second.data == Self.image)
        #expect(second.source == .cache)
        #expect(second.cacheStatus?.age != nil)
        #expect(!second.isStale)
        #expect(server.requests.count == 1)
        #expect(loader.activeCount == 0)
    }

    @Test func equalRequestsShareATransfer() async throws {
        let (server, gate) = try gatedServer()
        let tasks = (0..<1_000).map { number in
            loader.start(ImageRequest("\(server.url)/a", priority: Priority.allCases[number % 5]))
        }
        #expect(loader.activeCount == 1)
        #expect(tasks[0].priority == .prefetch)
        gate.open()
        for task in tasks { #expect(try await task.image.data == Self.image) }
        #expect(server.requests.count == 1)
        #expect(loader.activeCount == 0)
    }

    @Test func lastCancelledTaskEndsTheTransfer() async throws {
        let server = try LoopbackServer { _ in .stall }
        let tasks = (0..<3).map { _ in loader.start(ImageRequest("\(server.url)/a")) }
        await server.until { $0.requestCount == 1 }
        for task in tasks.dropLast() { task.cancel() }
        #expect(loader.activeCount == 1)
        tasks[2].cancel()
        #expect(loader.activeCount == 0)
        for task in tasks {
            let error = await #expect(throws: NetworkError.self) { try await task.image }
            #expect(error?.isCancelled == true)
        }
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func cancelledCallerLeavesTheOthers() async throws {
        let (server, gate) = try gatedServer()
        let url = "\(server.url)/a"
        let cancelled = Task { try await loader.image(url) }
        let other = loader.start(ImageRequest(url))
        await server.until { $0.requestCount == 1 }
        cancelled.cancel()
        await #expect(throws: NetworkError.self) { try await cancelled.value }
        gate.open()
        #expect(try await other.image.data == Self.image)
    }

    @Test func usersDoNotShareATransfer() async throws {
        let (server, gate) = try gatedServer()
        var (a, b) = (ImageRequest("\(server.url)/a"), ImageRequest("\(server.url)/a"))
        (a.partition, b.partition) = ("a", "b")
        let tasks = [a, b].map { loader.start($0) }
        #expect(loader.activeCount == 2)
        gate.open()
        for task in tasks { _ = try await task.image }
        #expect(server.requests.count == 2)
    }

    @Test func mostImportantImageIsNext() async throws {
        var limits = ImageLoader.Limits()
        limits.transfersPerHost = 1
        let loader = ImageLoader(limits: limits)
        let (server, gate) = try gatedServer()
        func start(_ path: String, _ priority: Priority) -> ImageTask {
            loader.start(ImageRequest("\(server.url)/\(path)", priority: priority))
        }
        let first = start("first", .normal)
        await server.until { $0.requestCount == 1 }
        let waiting = [
            ("prefetch", Priority.prefetch), ("low", .low), ("normal", .normal), ("raised", .prefetch), ("high", .high),
        ].map { start($0, $1) }
        waiting[3].raise(to: .interactive)
        #expect(waiting[3].priority == .interactive)
        // An image that is wanted again is as important as the most important request.
        let joined = start("low", .high)
        while loader.waitingCount < 5 { await Task.yield() }
        gate.open()
        for task in [first, joined] + waiting { _ = try await task.image }
        #expect(
            server.requests.map(\.target) == ["/first", "/raised", "/low", "/high", "/normal", "/prefetch"]
                || server.requests.map(\.target) == ["/first", "/raised", "/high", "/low", "/normal", "/prefetch"]
        )
        #expect(server.record.connections == 1)
    }

    @Test func limitInAllHolds() async throws {
        var limits = ImageLoader.Limits()
        limits.transfers = 3
        let loader = ImageLoader(limits: limits)
        let (running, most) = (Lock(0), Lock(0))
        let servers = try (0..<4).map { _ in
            try LoopbackServer { _ in
                let count = running.withLock { running in
                    running += 1
                    return running
                }
                most.withLock { $0 = max($0, count) }
                defer { running.withLock { $0 -= 1 } }
                return Self.serving()
            }
        }
        let tasks = (0..<60).map { loader.start(ImageRequest("\(servers[$0 % 4].url)/\($0)")) }
        for task in tasks { _ = try await task.image }
        #expect(most.withLock { $0 } <= 3)
        #expect(servers.allSatisfy { $0.requests.count == 15 })
    }

    @Test func cancelledWaitingImageIsNeverRequested() async throws {
        var limits = ImageLoader.Limits()
        limits.transfers = 1
        let loader = ImageLoader(limits: limits)
        let (server, gate) = try gatedServer()
        let first = loader.start(ImageRequest("\(server.url)/first"))
        await server.until { $0.requestCount == 1 }
        let second = loader.start(ImageRequest("\(server.url)/second"))
        let third = loader.start(ImageRequest("\(server.url)/third"))
        while loader.waitingCount < 2 { await Task.yield() }
        second.cancel()
        gate.open()
        for task in [first, third] { _ = try await task.image }
        #expect(server.requests.map(\.target) == ["/first", "/third"])
        loader.cancelAll()
    }

    @Test func fallbackIsLoadedIfAnImageFails() async throws {
        let server = try LoopbackServer { request in
            switch request.target {
            case "/missing": .response(404, [:], "no")
            case "/page": .response(200, ["Content-Type": "text/html"], "<p>")
            default: Self.serving()
            }
        }
        let fallbacks: [any Request.Target] = ["\(server.url)/page", "\(server.url)/a"]
        #expect(try await loader.image("\(server.url)/missing", fallbacks: fallbacks).data == Self.image)
        #expect(server.requests.map(\.target) == ["/missing", "/page", "/a"])
        let error = await #expect(throws: NetworkError.self) {
            try await loader.image("\(server.url)/missing", fallbacks: ["\(server.url)/page"])
        }
        #expect(error?.kind == .status)
        #expect(error?.response?.status == .notFound)
        let page = await #expect(throws: NetworkError.self) { try await loader.image("\(server.url)/page") }
        #expect(page?.kind == .decoding)
        #expect(page?.message.contains("text/html") == true)
    }

    @Test func storedImageComesBeforeTheNewerOne() async throws {
        let number = Lock(0)
        let server = try LoopbackServer { _ in
            let count = number.withLock { number in
                number += 1
                return number
            }
            return .response(
                200,
                ["ETag": "\"\(count)\"", "Cache-Control": "max-age=0"],
                Self.image + Data([UInt8(count)])
            )
        }
        _ = try await loader.image("\(server.url)/a")
        let task = loader.start(ImageRequest("\(server.url)/a"))
        var stored: [ImageLoader.Image] = []
        for await event in task.events {
            if case .stored(let image) = event { stored.append(image) }
        }
        #expect(stored.map(\.data.last) == [1])
        #expect(stored.map(\.isStale) == [true])
        #expect(try await task.image.data.last == 2)
        #expect(server.requests[1]["if-none-match"] == "\"1\"")
    }

    @Test func progressAndSnapshotsAreReported() async throws {
        let bytes = Self.image + Data(repeating: 0, count: 100_000)
        let server = try LoopbackServer(.response(200, [:], bytes))
        var request = ImageRequest("\(server.url)/a")
        request.wantsSnapshots = true
        let task = loader.start(request)
        var (received, snapshots): ([Int64], [Data]) = ([], [])
        for await event in task.events {
            switch event {
            case .progress(let count, let total):
                received.append(count)
                #expect(total == Int64(bytes.count))
            case .snapshot(let data): snapshots.append(data)
            case .stored: Issue.record("nothing is stored")
            }
        }
        #expect(received.last == Int64(bytes.count))
        #expect(received == received.sorted())
        #expect(!snapshots.isEmpty)
        #expect(snapshots.allSatisfy { bytes.starts(with: $0) })
    }

    @Test func interruptedImageIsContinued() async throws {
        let bytes = Self.image + Data((0..<60_000).map { UInt8(truncatingIfNeeded: $0) })
        let server = try LoopbackServer { request in
            let head = "ETag: \"1\"\r\n"
            guard request["range"] == "bytes=40000-" else {
                let text = "HTTP/1.1 200 OK\r\n\(head)Content-Length: \(bytes.count)\r\n\r\n"
                return .sequence([.raw(Data(text.utf8) + bytes.prefix(40_000)), .close])
            }
            let range = "bytes 40000-\(bytes.count - 1)/\(bytes.count)"
            return .response(206, ["ETag": "\"1\"", "Content-Range": range], Data(bytes.dropFirst(40_000)))
        }
        await #expect(throws: NetworkError.self) { try await loader.image("\(server.url)/a") }
        let image = try await loader.image("\(server.url)/a")
        #expect(image.data == bytes)
        #expect(image.cacheStatus?.forwardReason == .partial)
        #expect(server.requests.count == 2)
    }

    @Test func imageThatExceedsALimitIsRejected() async throws {
        let server = try LoopbackServer { request in
            request.target == "/long"
                ? .response(200, [:], Self.image + Data(count: 2_000)) : .endless(Data("HTTP/1.1 200 OK\r\n\r\n".utf8))
        }
        var limits = ImageLoader.Limits()
        limits.bytes = 1_000
        let loader = ImageLoader(limits: limits)
        for path in ["long", "endless"] {
            let error = await #expect(throws: NetworkError.self) { try await loader.image("\(server.url)/\(path)") }
            #expect(error?.kind == .tooLarge)
        }
        let wide = Data("GIF89a".utf8) + Data([0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0x3B])
        let other = try LoopbackServer(.response(200, ["Cache-Control": "max-age=60"], wide))
        for _ in 0..<2 {
            let error = await #expect(throws: NetworkError.self) { try await self.loader.image(other.url) }
            #expect(error?.kind == .tooLarge)
        }
    }

    @Test(arguments: [
        ("data:image/gif;base64,R0lGODlhAgADAAAAADs=", true), ("data:image/gif;base64,R0lGODlhAgADAAAAADs", true),
        ("DATA:;base64,R0lGODlhAgAD%41AAAADs%3D", true), ("data:image/gif,GIF89a%02%00%03%00%00%00%00;", true),
        ("data:image/gif;base64", false), ("data:image/gif;base64,R", false), ("data:image/gif,%G1", false),
        ("data:text/plain,hello", false), ("data:,", false),
    ])
    func dataURLs(_ url: String, isImage: Bool) async throws {
        guard isImage else {
            let error = await #expect(throws: NetworkError.self) { try await loader.image(url) }
            #expect(error?.kind == .badURL || error?.kind == .decoding)
            return
        }
        let image = try await loader.image(url)
        #expect(image.header?.width == 2)
        #expect(image.url == "")
    }

    @Test func storedPageIsReplacedByTheImage() async throws {
        let isPage = Lock(true)
        let server = try LoopbackServer { _ in
            isPage.withLock { $0 }
                ? .response(200, ["Content-Type": "text/html", "Cache-Control": "max-age=60"], "<p>Sign in")
                : Self.serving()
        }
        await #expect(throws: NetworkError.self) { try await loader.image("\(server.url)/a") }
        isPage.withLock { $0 = false }
        #expect(try await loader.image("\(server.url)/a").data == Self.image)
        #expect(try await loader.image("\(server.url)/a").source == .cache)
    }

    @Test func policyOfTheContainerApplies() async throws {
        let server = try LoopbackServer(Self.serving())
        _ = try await loader.image("\(server.url)/a")
        Beagle.dependencies.policy = .networkOnly
        #expect(try await loader.image("\(server.url)/a").source == .network)
        #expect(server.requests.count == 2)
    }

    @Test func usersOfABuilderDoNotShareATransfer() async throws {
        let (server, gate) = try gatedServer()
        Beagle.dependencies.httpRequestBuilder.origins = [try #require(Origin(URL(string: server.url)!))]
        var tasks: [ImageTask] = []
        for user in ["a", "b"] {
            Beagle.dependencies.httpRequestBuilder.additionalHeaders = ["Authorization": "Bearer \(user)"]
            tasks.append(loader.start(ImageRequest("\(server.url)/a")))
        }
        #expect(loader.activeCount == 2)
        gate.open()
        for task in tasks { _ = try await task.image }
        #expect(server.requests.count == 2)
    }

    @Test func acceptedFormatsAreSent() async throws {
        let server = try LoopbackServer(Self.serving())
        _ = try await ImageLoader(formats: [.avif, .webp]).image("\(server.url)/a")
        var request = ImageRequest("\(server.url)/b")
        request.headers = ["accept": "image/png"]
        _ = try await ImageLoader(formats: [.avif]).image(request)
        #expect(server.requests.map { $0["accept"] } == ["image/avif, image/webp, image/*;q=0.5", "image/png"])
    }

    @Test func malformedTargetFails() async throws {
        let error = await #expect(throws: NetworkError.self) { try await loader.image("http://[") }
        #expect(error?.kind == .badURL)
        #expect(loader.activeCount == 0)
    }

    @Test func onlyTheStoreIsRead() async throws {
        let server = try LoopbackServer(Self.serving())
        var request = ImageRequest("\(server.url)/a")
        request.policy = .cacheOnly
        let error = await #expect(throws: NetworkError.self) { try await loader.image(request) }
        #expect(error?.kind == .notStored)
        _ = try await loader.image("\(server.url)/a")
        #expect(try await loader.image(request).source == .cache)
        #expect(server.requests.count == 1)
    }

    @Test func loaderWorksWithoutACache() async throws {
        Beagle.dependencies.interceptors.removeAll { $0 is CacheInterceptor }
        let server = try LoopbackServer(Self.serving())
        for _ in 0..<2 { #expect(try await loader.image("\(server.url)/a").source == .network) }
        #expect(server.requests.count == 2)
    }

    // MARK: - Prefetching

    @Test func prefetchedImagesAreInTheStore() async throws {
        let server = try LoopbackServer { $0.target == "/3" ? .response(404) : Self.serving() }
        let prefetcher = ImageLoader.Prefetcher(loader)
        prefetcher.prefetch((0..<6).map { "\(server.url)/\($0)" })
        while prefetcher.pendingCount > 0 { await Task.yield() }
        #expect(prefetcher.counts.loaded == 5)
        #expect(prefetcher.counts.failed == 1)
        #expect(try await loader.image("\(server.url)/5").source == .cache)
        #expect(server.requests.count == 6)
    }

    @Test func prefetchIsPausedAndStopped() async throws {
        let (server, gate) = try gatedServer()
        let prefetcher = ImageLoader.Prefetcher(loader, maxTransfers: 1)
        prefetcher.isPaused = true
        prefetcher.prefetch((0..<4).map { "\(server.url)/\($0)" })
        #expect(prefetcher.pendingCount == 4)
        #expect(loader.activeCount == 0)
        prefetcher.isPaused = false
        await server.until { $0.requestCount == 1 }
        prefetcher.isPaused = true
        gate.open()
        while prefetcher.pendingCount > 3 { await Task.yield() }
        #expect(loader.activeCount == 0)
        prefetcher.stop()
        #expect(prefetcher.pendingCount == 0)
        prefetcher.isPaused = false
        #expect(server.requests.count == 1)
    }

    @Test func imageThatIsWantedJoinsItsPrefetch() async throws {
        let (server, gate) = try gatedServer()
        var prefetcher: ImageLoader.Prefetcher? = ImageLoader.Prefetcher(loader)
        prefetcher?.prefetch(["\(server.url)/a", "\(server.url)/b"])
        await server.until { $0.requestCount == 2 }
        let task = loader.start(ImageRequest("\(server.url)/a", priority: .interactive))
        #expect(task.priority == .interactive)
        #expect(loader.activeCount == 2)
        // Only the other prefetch ends.
        prefetcher?.stop()
        prefetcher = nil
        #expect(loader.activeCount == 1)
        gate.open()
        #expect(try await task.image.data == Self.image)
        #expect(server.requests.count == 2)
    }
}
