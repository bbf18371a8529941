import BeagleNetCurl
import BeagleNetTesting
import Foundation
import Synchronization
import Testing
import TestClients

@testable import BeagleNet

@Suite(.beagle(.live) { $0.logger = .off }, .timeLimit(.minutes(5))) struct ImageInterceptorTests {
    private static let bomb = ImageSamples.png(2_147_483_647, 2_147_483_647)

    /// The ways to request an image. With logging or a deadline, the operation has a task.
    enum RequestForm: CaseIterable {
        case shared, alone, inATask, withACompletion, watching, streaming
    }

    private func image(
        from server: LoopbackServer,
        _ form: RequestForm,
        _ type: Request.RequestType = .fetchImage
    ) async throws -> Data {
        let client = NetworkClientDefault(dependencies: Beagle.dependencies)
        let request = Request(url: try #require(URL(string: "\(server.url)/image")), type: type)
        switch form {
        case .shared: return try await client.executeRequest(request).data
        case .alone:
            var operation = NetworkOperation(request)
            operation.isShared = false
            return try #require(try await client.run(operation).response).data
        case .inATask:
            var operation = NetworkOperation(request)
            operation.deadline = .seconds(30)
            return try #require(try await client.run(operation).response).data
        case .withACompletion:
            let outcome = await withCheckedContinuation { continuation in
                client.executeRequest(request) { continuation.resume(returning: $0) }
            }
            return try outcome.get().data
        case .watching:
            let (events, continuation) = AsyncStream.makeStream(of: NetworkOperation.Event.self)
            let token = client.watch(NetworkOperation(request)) { continuation.yield($0) }
            defer { token?.cancel() }
            for await event in events {
                switch event {
                case .result(let result): if let response = result.response { return response.data }
                case .failure(let error): throw error
                case .end: break
                }
            }
            return Data()
        case .streaming: return try await client.stream(request).collect().data
        }
    }

    private func refusal(by server: LoopbackServer, _ form: RequestForm) async throws -> NetworkError {
        try await #require(throws: NetworkError.self) { try await image(from: server, form) }
    }

    // MARK: - Over a socket

    @Test("row 34: a PNG of 70 bytes that declares 2,147,483,647 pixels a side", arguments: RequestForm.allCases)
    func decompressionBombIsRejectedByItsHeader(form: RequestForm) async throws {
        #expect(Self.bomb.count == 70)
        let server = try LoopbackServer { _ in .response(200, ["Content-Type": "image/png"], Self.bomb) }
        let error = try await refusal(by: server, form)
        #expect(error.kind == .tooLarge)
        #expect(
            error.message
                == "the image (image/png) declares 2147483647 x 2147483647 pixels; the limit is 100000000"
        )
        #expect(error.advice == "increase ImageInterceptor(maxPixels:) if you expect images of this size")
        #expect(error.response?.headerFields[.contentType] == "image/png")
        #expect(error.url == "\(server.url)/image" && error.request?.path == "/image")
        #expect(error.data == nil)
        #expect(server.requests.count == 1)
    }

    /// The failure of a second attempt.
    @Test(arguments: [RequestForm.shared, .alone, .inATask, .withACompletion, .watching])
    func bombInALaterAttemptIsRejected(form: RequestForm) async throws {
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            count.add(1, ordering: .relaxed).newValue == 1 ? .response(503) : .response(200, [:], Self.bomb)
        }
        #expect(try await refusal(by: server, form).kind == .tooLarge)
        #expect(server.requests.count == 2)
    }

    /// The response decides whether the request is retried, not the rejection of the image.
    @Test(arguments: [RequestForm.shared, .alone, .inATask, .withACompletion, .watching])
    func bombInARetriedResponseIsNotReported(form: RequestForm) async throws {
        Beagle.dependencies.interceptors = [DeadlineInterceptor(), ImageInterceptor(), RetryInterceptor()]
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            count.add(1, ordering: .relaxed).newValue == 1
                ? .response(503, [:], Self.bomb) : .response(200, [:], Self.small)
        }
        #expect(try await image(from: server, form) == Self.small)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [Request.RequestType.fetchComponent, .rawRequest(.init())])
    func onlyImagesAreInspected(type: Request.RequestType) async throws {
        let server = try LoopbackServer { _ in .response(200, [:], Self.bomb) }
        for form in RequestForm.allCases { #expect(try await image(from: server, form, type) == Self.bomb) }
    }

    @Test(arguments: RequestForm.allCases) func bodyThatIsNotAnImagePasses(form: RequestForm) async throws {
        let own = Data("format of the app's own".utf8)
        let server = try LoopbackServer { _ in .response(200, [:], own) }
        #expect(try await image(from: server, form) == own)
    }

    // MARK: - The limit

    private static let imageMayHaveAsManyPixelsAsAllowedArguments: [(Int?, Int, Int, Bool)] = [
        // Exactly as many as allowed; one more; none; a raised limit, and no limit.
        (100_000_000, 10_000, 10_000, true), (100_000_000, 100_000_001, 1, false), (0, 0, 1, true),
        (0, 1, 1, false),
        (200_000_000, 20_000, 10_000, true), (nil, 2_147_483_647, 2_147_483_647, true),
    ]

    @Test(arguments: Self.imageMayHaveAsManyPixelsAsAllowedArguments)
    func imageMayHaveAsManyPixelsAsAllowed(limit: Int?, _ width: Int, _ height: Int, _ isAllowed: Bool) async throws {
        Beagle.dependencies.interceptors.replace(with: ImageInterceptor(maxPixels: limit))
        let data = ImageSamples.png(width, height)
        let server = try LoopbackServer { _ in .response(200, [:], data) }
        for form in RequestForm.allCases {
            let outcome = await Task { try await image(from: server, form) }.result
            #expect((outcome.value == data) == isAllowed)
            if !isAllowed { #expect((outcome.failure as? NetworkError)?.kind == .tooLarge) }
        }
    }

    @Test func defaultLimitIsAHundredMillionPixels() throws {
        let interceptor = try #require(
            Beagle.dependencies.interceptors.lazy.compactMap { $0 as? ImageInterceptor }.first
        )
        #expect(interceptor.maxPixels == 100_000_000)
        #expect(interceptor.applies(to: .of(.image)))
        for kind in NetworkOperation.Kind.known where kind != .image { #expect(!interceptor.applies(to: .of(kind))) }
        #expect(!ImageInterceptor(maxPixels: nil).applies(to: .of(.image)))
    }

    // MARK: - Streams

    private func stream(_ server: LoopbackServer) async throws -> StreamingResponse {
        let client = NetworkClientDefault(dependencies: Beagle.dependencies)
        let url = try #require(URL(string: "\(server.url)/image"))
        return try await client.stream(Request(url: url, type: .fetchImage))
    }

    private func collected(_ answer: LoopbackServer.Response) async throws -> Data {
        let server = try LoopbackServer { _ in answer }
        let data = try await stream(server).collect().data
        #expect(server.requests.count == 1)
        return data
    }

    /// Any app that opens the file would decode it.
    @Test(arguments: [false, true]) func bombIsNotDownloaded(resuming: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let bomb = Lock(true)
        let server = try LoopbackServer { _ in
            .response(200, ["ETag": "\"1\""], bomb.withLock { $0 } ? Self.bomb : Self.small)
        }
        let path = folder.appending(path: "image").path
        let client = NetworkClientDefault(dependencies: Beagle.dependencies)
        let error = try await #require(throws: NetworkError.self) {
            try await client.download("\(server.url)/image", to: path, resuming: resuming)
        }
        #expect(error.kind == .tooLarge)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        bomb.withLock { $0 = false }
        try await client.download("\(server.url)/image", to: path, resuming: resuming)
        #expect(FileManager.default.contents(atPath: path) == Self.small)
    }

    /// The interceptor doesn't wait for the end of the body.
    @Test func streamedBombIsRejectedEarly() async throws {
        let head = "HTTP/1.1 200 OK\r\n\r\n"
        let answer = LoopbackServer.Response.sequence([.raw(head), .raw(Self.bomb), .endless("more")])
        let server = try LoopbackServer { _ in answer }
        do {
            let response = try await stream(server)
            var chunks = response.body.makeAsyncIterator()
            let error = try await #require(throws: NetworkError.self) { try await chunks.next() }
            #expect(error.kind == .tooLarge && error.url == "\(server.url)/image")
            // Reading on returns nothing, and reading again fails.
            #expect(try await chunks.next() == nil)
            let again = await #expect(throws: NetworkError.self) { try await response.collect() }
            #expect(again?.kind == .tooLarge)
        }
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [100, 60_000, 200_000]) func streamedImageIsDeliveredWhole(size: Int) async throws {
        var bytes = ImageSamples.jpeg(Data([0xFF, 0xE0, 0, 4, 1, 2]))
        bytes += Data((0..<size).map { UInt8(truncatingIfNeeded: $0) })
        let pieces = stride(from: 0, to: bytes.count, by: 7001).map { bytes[$0..<min($0 + 7001, bytes.count)] }
        #expect(try await collected(.chunked(pieces.map { Data($0) })) == bytes)
    }

    /// The image header arrives in chunks of one byte.
    @Test(arguments: ImageSamples.written + ImageSamples.scattered)
    func streamedImageHeaderIsAssembled(sample: ImageSamples.Sample) async throws {
        Beagle.dependencies.interceptors.replace(with: ImageInterceptor(maxPixels: sample.header.pixels - 1))
        let pieces = sample.data.map { Data([$0]) }
        let error = try await #require(throws: NetworkError.self) {
            try await collected(.chunked(pieces + [Data(count: 1000)]))
        }
        #expect(error.kind == .tooLarge)
    }

    /// The directory of an icon may declare a smaller size than its image, which can come later.
    @Test func streamedIconIsReadUpToItsImage() async throws {
        let directory = Data([0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0, 70, 0, 0, 0, 0, 0x20, 0, 0])
        let icon = directory + Data(count: 0x2000 - directory.count) + Self.bomb
        let pieces = stride(from: 0, to: icon.count, by: 1000).map { Data(icon[$0..<min($0 + 1000, icon.count)]) }
        let error = try await #require(throws: NetworkError.self) { try await collected(.chunked(pieces)) }
        #expect(error.kind == .tooLarge)
    }

    private struct Pieces: HTTPTransport {
        let pieces: [Data]

        func perform(
            _ request: TransferRequest,
            completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
        ) -> any RequestToken {
            let body = HTTPBody(
                .stream(length: nil, isReplayable: true) { [pieces] in
                    let rest = Lock(pieces[...])
                    return { rest.withLock { $0.popFirst() } }
                }
            )
            completion(.success(TransferResponse(head: HTTPResponse(status: .ok), body: body, url: "http://host/")))
            return AnyRequestToken()
        }
    }

    /// A third-party transport may yield empty chunks.
    @Test(arguments: [bomb, small]) func emptyChunksDoNotEndTheBody(image: Data) async throws {
        let transport = Pieces(pieces: [Data(), image.prefix(1), Data(), image.dropFirst(), Data(), Data([1])])
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        let url = try #require(URL(string: "http://host/"))
        let response = try await client.stream(Request(url: url, type: .fetchImage))
        let outcome = await Task { try await response.collect().data }.result
        if image == Self.small {
            #expect(outcome.value == image + [1])
        } else {
            #expect((outcome.failure as? NetworkError)?.kind == .tooLarge)
        }
    }

    /// An image whose format is still unknown after the first chunk.
    @Test func longListOfBrandsIsReadToItsEnd() async throws {
        let image = ImageSamples.avif(ImageSamples.extent(255, 255))
        let brands = Data("none\0\0\0\0".utf8) + Data((0..<251).flatMap { _ in Data("none".utf8) }) + Data("avif".utf8)
        let bytes = ImageSamples.box("ftyp", brands) + image.dropFirst(24)
        #expect(ImageHeader.Format(of: bytes.prefix(600)) == nil)
        Beagle.dependencies.interceptors.replace(with: ImageInterceptor(maxPixels: 255 * 255 - 1))
        let transport = Pieces(pieces: [bytes.prefix(600), bytes.dropFirst(600), Data(count: 1000)])
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        let url = try #require(URL(string: "http://host/"))
        let response = try await client.stream(Request(url: url, type: .fetchImage))
        let error = try await #require(throws: NetworkError.self) { try await response.collect() }
        #expect(error.kind == .tooLarge)
    }

    // MARK: - Parts

    private func part(_ server: LoopbackServer) throws -> Request {
        let part = HttpAdditionalData(headers: ["Range": "bytes=5-"])
        return Request(url: try #require(URL(string: "\(server.url)/image")), type: .fetchImage, additionalData: part)
    }

    /// A part may begin anywhere in the image. A part that wasn't requested is inspected.
    @Test func requestedPartIsNotInspected() async throws {
        let server = try LoopbackServer { _ in .response(206, ["Content-Range": "bytes 5-74/75"], Self.bomb) }
        let client = NetworkClientDefault(dependencies: Beagle.dependencies)
        #expect(try await client.executeRequest(part(server)).data == Self.bomb)
        #expect(try await client.stream(part(server)).collect().data == Self.bomb)
        for form in RequestForm.allCases { #expect(try await refusal(by: server, form).kind == .tooLarge) }
    }

    @Test func wholeImageInsteadOfAPartIsInspected() async throws {
        let server = try LoopbackServer { _ in .response(200, [:], Self.bomb) }
        let client = NetworkClientDefault(dependencies: Beagle.dependencies)
        let error = await #expect(throws: NetworkError.self) { try await client.executeRequest(part(server)) }
        #expect(error?.kind == .tooLarge)
        let streamed = await #expect(throws: NetworkError.self) { try await client.stream(part(server)).collect() }
        #expect(streamed?.kind == .tooLarge)
    }

    /// Bytes that aren't an image aren't held back.
    @Test func streamOfAnotherFormatIsNotDelayed() async throws {
        let gate = try LoopbackServer.Gate()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
        let server = try LoopbackServer { _ in .sequence([.raw("\(head)a"), .gate(gate), .raw("b")]) }
        let response = try await stream(server)
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("a".utf8))
        gate.open()
        #expect(try await chunks.next() == Data("b".utf8))
        #expect(try await chunks.next() == nil)
        #expect(server.requests.count == 1)
    }

    @Test func emptyStreamStaysEmpty() async throws {
        #expect(try await collected(.response(200)).isEmpty)
    }

    // MARK: - Stores

    private static let small = ImageSamples.png(37, 23)

    /// A store with an image from before the limit was set, and a network that returns another.
    private func fixture(stored: Data = bomb, network: Data, _ fields: HTTPFields = [:]) async -> CacheFixture {
        let current = Lock((stored, HTTPFields()))
        let fixture = CacheFixture(responses: { _ in
            let (data, fields) = current.withLock { $0 }
            let head = HTTPResponse(status: .ok, headerFields: fields)
            return .success(TransferResponse(head: head, body: HTTPBody(data), url: "http://host/"))
        })
        _ = await fixture.results(of: .storable(.image))
        Beagle.dependencies.interceptors.add(ImageInterceptor())
        current.withLock { $0 = (network, fields) }
        return fixture
    }

    /// The names of all results that a caller receives.
    private func received(_ fixture: CacheFixture, _ policy: RequestPolicy) async -> [String] {
        @Sendable func name(_ result: NetworkOperation.Result) -> String {
            let data = result.response?.data
            let name = data == Self.bomb ? "bomb" : data == Self.small ? "small" : "other"
            return (result.source == .cache ? "stored " : "") + name + (result.isStale ? " stale" : "")
        }
        let received = Lock<[String]>([])
        let outcome = await Result {
            try await fixture.client.run(.storable(.image, policy)) { result in
                received.withLock { $0.append(name(result)) }
            }
        }
        switch outcome {
        case .success(let result): return received.withLock { $0 } + [name(result)]
        case .failure(let error): return received.withLock { $0 } + [error.kind.rawValue]
        }
    }

    /// A rejected stored image is never returned. It is requested again if the policy allows it.
    @Test(arguments: RequestPolicy.allCases) func storedBombIsRejected(policy: RequestPolicy) async {
        let fixture = await fixture(network: Self.small)
        #expect(await received(fixture, policy) == [policy == .cacheOnly ? "too_large" : "small"])
        #expect(fixture.requests == (policy == .cacheOnly ? 1 : 2))
        // The valid image replaces it in the store.
        if policy != .cacheOnly { #expect(await received(fixture, .cacheFirst) == ["stored small"]) }
    }

    @Test(arguments: RequestPolicy.allCases) func bombInStoreAndNetworkIsRejected(policy: RequestPolicy) async {
        let fixture = await fixture(network: Self.bomb)
        #expect(await received(fixture, policy) == ["too_large"])
        #expect(await received(fixture, policy) == ["too_large"])
    }

    /// Other fields of the rejected response make no difference.
    @Test(arguments: [[:], [.cacheControl: "no-store"], [.setCookie: "a=1"]] as [HTTPFields])
    func bombDoesNotReplaceAStoredImage(fields: HTTPFields) async {
        let fixture = await fixture(stored: Self.small, network: Self.bomb, fields)
        for policy in [RequestPolicy.networkOnly, .networkFirst] {
            #expect(await received(fixture, policy) == ["too_large"])
        }
        #expect(await received(fixture, .cacheAndNetwork) == ["stored small stale", "too_large"])
        #expect(await received(fixture, .cacheFirst) == ["stored small"])
    }

    @Test func storedBombIsRejectedIfTheNetworkFails() async {
        let isLost = Lock(false)
        let fixture = CacheFixture(responses: { _ in
            if isLost.withLock({ $0 }) { return .failure(.lost) }
            return .success(
                TransferResponse(head: HTTPResponse(status: .ok), body: HTTPBody(Self.bomb), url: "http://host/")
            )
        })
        _ = await fixture.results(of: .storable(.image))
        Beagle.dependencies.interceptors.add(ImageInterceptor())
        isLost.withLock { $0 = true }
        // The app receives the network's error.
        #expect(await received(fixture, .networkFirst) == ["network"])
        #expect(await received(fixture, .cacheFirst) == ["network"])
        #expect(await received(fixture, .cacheAndNetwork) == ["network"])
    }

    /// A rejected stored image isn't returned to callers that join while another is requested.
    @Test func callersThatFindAStoredBombShareARequest() async throws {
        let gate = try LoopbackServer.Gate()
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            count.add(1, ordering: .relaxed).newValue == 1
                ? .response(200, ["Cache-Control": "max-age=60"], Self.bomb)
                : .sequence([.gate(gate), .response(200, [:], Self.small)])
        }
        let store = MemoryResponseStore()
        Beagle.dependencies.interceptors = [
            ImageInterceptor(maxPixels: nil), CacheInterceptor(store), StatusInterceptor(),
        ]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies)
        let request = Request(url: try #require(URL(string: "\(server.url)/image")), type: .fetchImage)
        #expect(try await client.executeRequest(request).data == Self.bomb)
        Beagle.dependencies.interceptors.replace(with: ImageInterceptor())
        try await withThrowingTaskGroup(of: Data.self) { group in
            group.addTask { try await client.executeRequest(request).data }
            #expect(await server.until { $0.requests.count == 2 })
            for _ in 0..<3 { group.addTask { try await client.executeRequest(request).data } }
            // So that they find the first request in progress.
            try await Task.sleep(for: .milliseconds(100))
            gate.open()
            for try await data in group { #expect(data == Self.small) }
        }
        #expect(server.requests.count == 2)
    }

    /// An image in memory needs no run, even with the limit above the cache.
    @Test @MainActor func storedImageIsReturnedImmediately() async throws {
        let fixture = await fixture(network: Self.small)
        _ = await received(fixture, .networkOnly)
        let isOver = Lock(false)
        Task { isOver.withLock { $0 = true } }
        let result = try await fixture.client.run(.storable(.image))
        #expect(!isOver.withLock { $0 })
        #expect(result.source == .cache && result.response?.data == Self.small)
    }

    // MARK: - Other clients

    @Test func stubHasNoLimit() async throws {
        Beagle.dependencies.networkClient = StubClient { _ in NetworkResponse(data: Self.bomb) }
        #expect(try await Beagle.dependencies.networkClient.image("http://host/image").data == Self.bomb)
    }
}

extension Result {
    fileprivate var value: Success? {
        if case .success(let value) = self { return value }
        return nil
    }

    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { return failure }
        return nil
    }
}
