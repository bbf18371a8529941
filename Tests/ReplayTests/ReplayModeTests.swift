import BeagleNet
import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct ReplayModeTests {
    /// A network that responds to each path with its text, and records the requests.
    private final class Network: HTTPTransport {
        private let answers: [String: String]
        private let messages = Lock<[TransferRequest]>([])

        init(_ answers: [String: String]) {
            self.answers = answers
        }

        var paths: [String] { messages.withLock { $0.map { $0.head.path ?? "" } } }
        var bodies: [Data?] { messages.withLock { $0.map { $0.body?.data } } }

        func perform(
            _ request: TransferRequest,
            completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
        ) -> any RequestToken {
            messages.withLock { $0.append(request) }
            guard let text = answers[request.head.path ?? ""] else {
                completion(.failure(NetworkError(.connect, during: .connect, "refused")))
                return AnyRequestToken()
            }
            let head = HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"])
            let body = request.delivery == .stream ? Self.stream(text) : HTTPBody(text)
            completion(.success(TransferResponse(head: head, body: body, url: request.head.urlText)))
            return AnyRequestToken()
        }

        private static func stream(_ text: String) -> HTTPBody {
            .stream {
                AsyncStream { chunks in
                    for byte in text.utf8 { chunks.yield(Data([byte])) }
                    chunks.finish()
                }
            }
        }
    }

    private static let recording = Recording([
        Exchanges.entry("GET", "/a", type: "application/json", answer: #"{"x": 1, "y": [1, 2]}"#),
        Exchanges.entry("GET", "/old", status: 302, answerFields: [LogEntry.Field("Location", "/a")], at: 1),
        Exchanges.entry("POST", "/p", body: LogEntry.Body(.data(Data("abc".utf8))), answer: "posted", at: 2),
    ])

    @Test func fallbackReceivesOnlyUnrecordedRequests() async {
        let network = Network(["/b": "from the network", "/a": "never"])
        let transport = ReplayTransport(Self.recording, mode: .fallback(to: network))
        #expect(await transport.text(Exchanges.message("GET", "/a")) == #"{"x": 1, "y": [1, 2]}"#)
        #expect(await transport.text(Exchanges.message("GET", "/b")) == "from the network")
        #expect(await transport.text(Exchanges.message("GET", "/c")) == "connect")
        #expect(network.paths == ["/b", "/c"])
    }

    @Test func redirectToAnUnrecordedURLUsesTheFallback() async {
        let network = Network(["/new": "there"])
        let moved = Exchanges.entry("GET", "/old", status: 301, answerFields: [LogEntry.Field("Location", "/new")])
        let transport = ReplayTransport(Recording([moved]), mode: .fallback(to: network))
        #expect(await transport.text(Exchanges.message("GET", "/old")) == "there")
        #expect(network.paths == ["/new"])
    }

    @Test func recordedFailureDoesNotUseTheFallback() async {
        let network = Network(["/a": "there"])
        var failed = Exchanges.entry("GET", "/a")
        (failed.response, failed.error) = (nil, "timeout: too slow")
        let transport = ReplayTransport(Recording([failed]), mode: .fallback(to: network))
        #expect(await transport.text(Exchanges.message("GET", "/a")) == "timeout")
        #expect(network.paths.isEmpty)
    }

    /// Matching reads the stream, which can be read only once.
    @Test func streamedBodyReachesTheFallbackCompletely() async {
        let network = Network(["/p": "sent"])
        let transport = ReplayTransport(Self.recording, mode: .fallback(to: network))
        var message = Exchanges.message("POST", "/p")
        message.body = .stream {
            AsyncStream { chunks in
                for text in ["x", "yz"] { chunks.yield(Data(text.utf8)) }
                chunks.finish()
            }
        }
        #expect(await transport.text(message) == "sent")
        #expect(network.bodies == [Data("xyz".utf8)])
    }

    @Test func refreshRequestsEverything() async {
        let network = Network(["/a": "new"])
        let transport = ReplayTransport(Self.recording, mode: .refresh(from: network))
        #expect(await transport.text(Exchanges.message("GET", "/a")) == "new")
        #expect(await transport.text(Exchanges.message("GET", "/old")) == "connect")
        #expect(transport.unused.count == 3)
    }

    // MARK: - Recording

    private static func texts(_ path: String) throws -> [String: String] {
        let recording = try Recording(contentsOf: path)
        return Dictionary(
            try recording.entries.map { entry in
                let data = try entry.response.map { try recording.data(of: $0.body) } ?? Data()
                let path = String(entry.request.url.dropFirst(Exchanges.base.count))
                return (path, String(decoding: data, as: UTF8.self))
            }
        ) { "\($0), \($1)" }
    }

    /// Records a log with one response.
    private static func record(_ answer: String, at path: String) async throws {
        let log = try RequestLog(directory: path)
        log.append(Exchanges.entry("GET", "/a", answer: answer))
        await log.close()
    }

    @Test func missingResponseIsAddedToTheRecording() async throws {
        try await withLogDirectory { path in
            try await Self.record("old", at: path)
            let network = Network(["/a": "never", "/b": "1"])
            let log = try RequestLog(directory: path)
            let mode = ReplayTransport.Mode.recordNew(from: network, into: log)
            let transport = ReplayTransport(try Recording(contentsOf: path), mode: mode)
            #expect(await transport.text(Exchanges.message("GET", "/a")) == "old")
            #expect(await transport.text(Exchanges.message("GET", "/b")) == "1")
            await log.close()
            #expect(network.paths == ["/b"])
            #expect(try Self.texts(path) == ["/a": "old", "/b": "1"])
            let again = ReplayTransport(try Recording(contentsOf: path))
            #expect(await again.text(Exchanges.message("GET", "/b")) == "1")
        }
    }

    /// If the system cannot exchange two directories, the old one is moved away first.
    @Test(arguments: [true, false]) func refreshReplacesTheRecording(_ exchanges: Bool) async throws {
        try await withLogDirectory { path in
            try await Self.record("old", at: path)
            let network = Network(["/a": "1", "/b": "2"])
            let update = try Recording.Update(of: path)
            let base = RecordingTransport(network, log: update.log)
            let transport = ReplayTransport(try Recording(contentsOf: path), mode: .refresh(from: base))
            for name in ["/a", "/b"] { _ = await transport.text(Exchanges.message("GET", name)) }
            #expect(try Self.texts(path) == ["/a": "old"])
            if exchanges { try await update.commit() } else { try await update.commit { _, _ in false } }
            #expect(try Self.texts(path) == ["/a": "1", "/b": "2"])
            let folder = String(path.dropLast("/a.bglog".count))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a.bglog"])
        }
    }

    /// Files at the path of the recording that aren't part of a recording.
    @Test(arguments: [
        "notes.bglog/thesis.txt", "notes.bglog/bodies/thesis.txt", "notes.bglog/bodies/ab/thesis.txt", "thesis.txt",
        "thesis.har", "backup.gz",
    ])
    func refreshDeletesOnlyARecording(_ name: String) async throws {
        try await withLogDirectory { log in
            let folder = URL(fileURLWithPath: log).deletingLastPathComponent()
            let file = folder.appending(path: name)
            let path = folder.appending(path: String(name.prefix { $0 != "/" })).path
            let update = try Recording.Update(of: path)
            if path.hasSuffix(".bglog") { try await Self.record("old", at: path) }
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data("precious".utf8).write(to: file)
            let error = await #expect(throws: NetworkError.self) { try await update.commit() }
            #expect(error?.kind == .file)
            #expect(throws: NetworkError.self) { try Recording.Update(of: path) }
            #expect(try Data(contentsOf: file) == Data("precious".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        }
    }

    @Test func refreshFollowsALinkToTheRecording() async throws {
        try await withLogDirectory { path in
            try await Self.record("old", at: path)
            let link = "\(path).link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
            let update = try Recording.Update(of: link)
            try await update.commit()
            #expect(try Self.texts(path).isEmpty)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
        }
    }

    @Test func discardedRefreshLeavesTheRecording() async throws {
        try await withLogDirectory { path in
            try await Self.record("old", at: path)
            let update = try Recording.Update(of: path)
            let base = RecordingTransport(Network(["/a": "new"]), log: update.log)
            let transport = ReplayTransport(try Recording(contentsOf: path), mode: .refresh(from: base))
            #expect(await transport.text(Exchanges.message("GET", "/a")) == "new")
            await update.discard()
            #expect(try Self.texts(path) == ["/a": "old"])
        }
    }

    // MARK: - Live

    private func live(
        _ answers: [String: String],
        _ path: String,
        _ delivery: TransferRequest.Delivery = .collect
    ) async -> (String, [ReplayTransport.Comparison]) {
        let reports = Lock<[ReplayTransport.Comparison]>([])
        let transport = ReplayTransport(
            Self.recording,
            mode: .live(from: Network(answers)) { report in reports.withLock { $0.append(report) } }
        )
        var message = Exchanges.message("GET", path)
        message.delivery = delivery
        let text = await transport.text(message)
        return (text, reports.withLock { $0 })
    }

    @Test(arguments: [TransferRequest.Delivery.collect, .stream])
    func equivalentResponseIsNotReported(_ delivery: TransferRequest.Delivery) async {
        let (text, reports) = await live(["/a": #"{"y":[1,2.0],"x":1}"#], "/a", delivery)
        #expect(text == #"{"y":[1,2.0],"x":1}"#)
        #expect(reports.isEmpty)
    }

    @Test(arguments: [TransferRequest.Delivery.collect, .stream])
    func differingResponseIsReported(_ delivery: TransferRequest.Delivery) async {
        let (text, reports) = await live(["/a": #"{"y":[1,2],"x":2}"#], "/a", delivery)
        #expect(text == #"{"y":[1,2],"x":2}"#)
        #expect(reports.map(\.request) == ["GET https://api.example.com/a"])
        #expect(
            reports.first?.differences.list == [
                ComparisonRules.Difference(.changed, at: "$.x", before: "1", after: "2")
            ]
        )
    }

    @Test func recordedRedirectIsFollowedBeforeComparison() async {
        let (_, reports) = await live(["/old": #"{"y":[1,2],"x":1}"#], "/old")
        #expect(reports.isEmpty)
    }

    @Test func unrecordedRequestIsReported() async {
        let (text, reports) = await live(["/new?token=abc": "new"], "/new?token=abc")
        #expect(text == "new")
        #expect(reports.map(\.request) == ["GET https://api.example.com/new?token=REDACTED"])
        #expect(reports.first?.recordedFailure?.kind == .notInRecording)
    }

    @Test func unrecordedFailureIsReported() async {
        let (text, reports) = await live([:], "/a")
        #expect(text == "connect")
        #expect(reports.first?.failure?.kind == .connect)
    }
}
