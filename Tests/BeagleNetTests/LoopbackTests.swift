import BeagleNet
import BeagleNetTesting
import CurlPeers
import Dispatch
import Foundation
import Testing
import TestClients

/// The default client of a container over libcurl and real sockets.
@Suite(
    .leavesNothing,
    .beagle(.live) {
        $0.logger = MemoryLogger()
        $0.interceptors.replace(with: LogInterceptor(.messages))
    },
    .timeLimit(.minutes(5))
)
struct LoopbackTests {
    private struct Screen: Codable, Equatable { var title: String }

    private var client: any NetworkClient { Beagle.dependencies.networkClient }

    private func serve(_ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response) throws
        -> LoopbackServer
    {
        let server = try LoopbackServer(answer: answer)
        Beagle.dependencies.environment = BeagleEnvironment(name: "loopback", baseURL: URL(string: server.url))
        return server
    }

    @Test func aScreenIsFetched() async throws {
        let server = try serve { _ in .response(200, ["Content-Type": "application/json"], "{\"title\":\"Home\"}") }
        #expect(try await client.fetch("/home", as: Screen.self) == Screen(title: "Home"))
        #expect(server.requests.map(\.target) == ["/home"])
        #expect(server.requests[0]["beagle-platform"] == HttpRequestBuilder().platform)
        #expect(server.requests[0]["accept"] == "application/json")
        let messages = try #require(Beagle.dependencies.logger as? MemoryLogger).messages
        #expect(messages.map { $0.prefix(3) } == ["-> ", "<- "])
    }

    @Test func formIsSubmittedAndItsErrorResponseRead() async throws {
        let server = try serve { request in
            if request.body.contains(UInt8(ascii: "@")) { return .response(201) }
            let isEmpty = request.body == Data(#"{"email":""}"#.utf8)
            return .response(422, [:], isEmpty ? #"{"field":"email"}"# : #"{"errors":{"email":["has no @"]}}"#)
        }
        let wrong = Request.FormData(method: .post, values: ["email": "a"])
        let reply = try await client.submit(wrong, to: "/signup")
        #expect(!reply.isAccepted && reply.messages(for: "email") == ["has no @"])
        #expect(reply.response?.status.code == 422)
        let bad = Request.FormData(method: .post, values: ["email": ""])
        let error = try await #require(throws: NetworkError.self) { try await client.submit(bad, to: "/signup") }
        #expect(error.response?.status.code == 422)
        #expect(error.data == Data("{\"field\":\"email\"}".utf8))
        let good = Request.FormData(method: .post, values: ["email": "a@b"])
        #expect(try await client.submit(good, to: "/signup").response?.status == .created)
        #expect(server.requests.map(\.method) == ["POST", "POST", "POST"])
    }

    @Test func eventStreamReconnectsAfterADisconnect() async throws {
        let server = try serve { request in
            guard request.connection == 1 else { return .response(204) }
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            return .sequence([.raw("\(head)id: 1\ndata: a\n\n"), .close])
        }
        var events = try client.events(
            "/news",
            query: [URLQueryItem(name: "a", value: "b")],
            headers: ["accept": "x", "X-A": "b"]
        )
        events.lastEventID = "0"
        events.backoff.base = .zero
        var seen: [String] = []
        for try await event in events { seen.append(event.data) }
        #expect(seen == ["a"])
        #expect(server.requests.map(\.target) == ["/news?a=b", "/news?a=b"])
        #expect(server.requests.map { $0["Last-Event-ID"] } == ["0", "1"])
        for request in server.requests {
            #expect(request.values(of: "Accept") == ["text/event-stream"])
            #expect(request["X-A"] == "b" && request["Cache-Control"] == "no-store")
        }
    }

    @Test func runningRequestSurvivesReplacingItsClient() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try serve { _ in .sequence([.gate(gate), .response(200, [:], "old")]) }
        let dependencies = Beagle.dependencies
        async let answer = Result { try await dependencies.networkClient.image("/a") }
        await server.until { $0.requestCount == 1 }
        dependencies.networkClient = StubClient { _ in NetworkResponse(text: "new") }
        gate.open()
        #expect(try await answer.get().text() == "old")
        #expect(try await dependencies.networkClient.image("/a").text() == "new")
    }

    @Test func aCancelledRequestEndsOnceAsCancelled() async throws {
        let server = try serve { _ in .stall }
        let client = client
        let task = Task { await Result { try await client.image("/a") } }
        await server.until { $0.requestCount == 1 }
        task.cancel()
        #expect(await task.value.failure?.isCancelled == true)
    }

    @Test func manyRequestsCancelledAtRandomEachEndOnce() async throws {
        let server = try serve { _ in .response(200, [:], "ok") }
        let client = client
        let request = Request(url: URL(string: server.url + "/")!, type: .fetchComponent)
        let completions = Lock([Int](repeating: 0, count: 400))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        let token = client.executeRequest(request) { _ in
                            completions.withLock { $0[number] += 1 }
                            continuation.resume()
                        }
                        if number % 3 != 0 { token?.cancel() }
                        if number % 5 == 0 { token?.cancel() }
                    }
                }
            }
        }
        #expect(completions.withLock { $0.allSatisfy { $0 == 1 } })
    }

    @Test func streamIsReadIncrementally() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try serve { _ in
            .sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"), .gate(gate), .raw("b")])
        }
        let response = try await client.stream(Request(url: URL(string: server.url)!, type: .fetchImage))
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("a".utf8))
        #expect(response.metrics.decodedBytes < 2)
        gate.open()
        #expect(try await chunks.next() == Data("b".utf8))
        #expect(try await chunks.next() == nil)
        #expect(response.metrics.decodedBytes == 2)
        let messages = try #require(Beagle.dependencies.logger as? MemoryLogger).messages
        #expect(messages.map { $0.prefix(6) } == ["-> GET", "<- 200", "<- 200"])
    }

    @Test func droppedStreamEndsItsTransferAndIsLoggedOnce() async throws {
        let server = try serve { _ in .sequence([.raw("HTTP/1.1 200 OK\r\n\r\n"), .endless("more")]) }
        let logger = try #require(Beagle.dependencies.logger as? MemoryLogger)
        do {
            let response = try await client.stream(Request(url: URL(string: server.url)!, type: .fetchImage))
            var chunks = response.body.makeAsyncIterator()
            #expect(try await chunks.next() != nil)
        }
        #expect(logger.messages.count == 3)
        #expect(logger.messages.last?.hasPrefix("<- the body was discarded") == true)
    }

    @Test func downloadIsCompleteOrAbsent() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let path = folder.appending(path: "image").path()
        let server = try serve { request in
            request.target == "/whole"
                ? .response(200, [:], Data(repeating: 1, count: 300_000))
                : .sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .close])
        }
        let error = try await #require(throws: NetworkError.self) { try await client.download("/half", to: path) }
        #expect(error.kind == .truncated)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()).isEmpty)
        let response = try await client.download("/whole", to: path)
        #expect(response.metrics.decodedBytes == 300_000)
        #expect(response.metrics.total >= response.metrics.firstByte)
        #expect(response.metrics.firstByte > .zero)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(repeating: 1, count: 300_000))
        #expect(server.requests.count == 2)
    }

    @Test func uploadReachesTheServer() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)").path()
        defer { unlink(path) }
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        try bytes.write(to: URL(filePath: path))
        let server = try serve { _ in .response(201) }
        try await client.upload(from: path, to: "/a") { _ in }
        try await client.upload(from: path, to: "/a")
        #expect(server.requests.map(\.body) == [bytes, bytes])
        #expect(server.requests.map { $0["content-length"] } == ["300000", "300000"])
    }

    @Test("row 18: cookies are returned, but not stored", arguments: [nil, "own=2"])
    func cookiesAreReturnedButNotStored(own: String?) async throws {
        let server = try serve { request in
            request.target == "/a" ? .response(302, ["Location": "/b", "Set-Cookie": "id=1"]) : .response(200)
        }
        for _ in 0..<2 { _ = try await client.image("/a", headers: own.map { ["Cookie": $0] } ?? [:]) }
        #expect(server.requests.map { $0["cookie"] } == [own, own, own, own])
        let url = try #require(URL(string: "/a"))
        let request = Request(url: url, type: .fetchImage, options: TransferOptions(redirects: .manual))
        #expect(try await client.send(request).response.headerFields[.setCookie] == "id=1")
    }

    @Test func timeoutIsReportedAsATimeout() async throws {
        let server = try serve { _ in .stall }
        let error = try await #require(throws: NetworkError.self) {
            try await client.image("/a", timeout: .seconds(1))
        }
        #expect(error.isTimeout)
        #expect(!error.isOffline)
        #expect(error.description.contains(server.url))
    }

    @Test func refusedConnectionIsOffline() async throws {
        Beagle.dependencies.environment = BeagleEnvironment(name: "nobody", baseURL: URL(string: "http://127.0.0.1:1"))
        let error = try await #require(throws: NetworkError.self) { try await client.image("/a") }
        #expect(error.isOffline)
        #expect(!error.mayHaveReachedServer)
    }
}
