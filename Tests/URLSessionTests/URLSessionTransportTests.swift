import BeagleNet
import BeagleNetTesting
import BeagleNetURLSession
import Foundation
import Testing

struct URLSessionTransportTests {
    private let transport = URLSessionTransport()

    private func ask(
        _ url: String,
        _ method: HTTPRequest.Method = .get,
        _ body: HTTPBody? = nil,
        fields: HTTPFields = [:],
        change: (inout TransferRequest) -> Void = { _ in }
    ) async throws -> TransferResponse {
        let url = try #require(URL(string: url))
        var request = TransferRequest(HTTPRequest(method: method, url: url, headerFields: fields), body: body)
        change(&request)
        return try await transport.perform(request)
    }

    private func failure(
        _ url: String,
        change: (inout TransferRequest) -> Void = { _ in }
    ) async throws -> NetworkError {
        try #require(await #expect(throws: NetworkError.self) { try await ask(url, change: change) })
    }

    @Test func responseHasBodyAndMetrics() async throws {
        let server = try LoopbackServer(.response(201, ["X-Part": "1"], "made"))
        let response = try await ask(server.url + "/a?b=c", .post, HTTPBody("body"), fields: [.contentType: "text/x"])
        #expect(response.head.status == .created)
        #expect(response.body.data == Data("made".utf8))
        #expect(response.url == server.url + "/a?b=c")
        #expect(response.metrics.decodedBytes == 4)
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.target == "/a?b=c")
        #expect(request["Content-Type"] == "text/x")
        #expect(request.body == Data("body".utf8))
    }

    @Test func streamedBodyIsSentCompletely() async throws {
        let server = try LoopbackServer(.response(204))
        let body = HTTPBody.stream {
            AsyncStream { chunks in
                for text in ["one ", "two"] { chunks.yield(Data(text.utf8)) }
                chunks.finish()
            }
        }
        _ = try await ask(server.url, .put, body)
        #expect(server.requests.first?.body == Data("one two".utf8))
    }

    @Test(arguments: [3, 9]) func bodyWithAWrongLengthIsNotSent(_ length: Int64) async throws {
        let server = try LoopbackServer(.response(204))
        let body = HTTPBody.stream(length: length) {
            AsyncStream { chunks in
                for text in ["one ", "two"] { chunks.yield(Data(text.utf8)) }
                chunks.finish()
            }
        }
        let error = try await failure(server.url) {
            $0.head.method = .put
            $0.body = body
        }
        #expect(error.kind == .badRequest)
        #expect(error.message.contains("7") && error.message.contains("\(length) bytes were declared"))
        #expect(server.record.connections == 0)
    }

    @Test func missingFileIsAnErrorBeforeAnythingIsSent() async throws {
        let server = try LoopbackServer(.response(204))
        let error = try await failure(server.url) { $0.body = .file(path: "/nonexistent/file") }
        #expect(error.kind == .file)
        #expect(server.record.connections == 0)
    }

    @Test func downloadHasMetricsAndOneLogMessage() async throws {
        let server = try LoopbackServer(.response(200, [:], "contents"))
        let dependencies = BeagleDependencies()
        let logger = MemoryLogger()
        dependencies.logger = logger
        let client = NetworkClientDefault(dependencies: dependencies, transport: transport)
        let path = NSTemporaryDirectory() + "beaglenet-\(UUID().uuidString)"
        defer { unlink(path) }
        let response = try await client.download(try #require(URL(string: server.url)), to: path)
        #expect(response.metrics.decodedBytes == 8)
        #expect(response.metrics.total >= response.metrics.firstByte)
        #expect(response.metrics.firstByte > .zero)
        #expect(logger.messages.count == 1)
        #expect(logger.messages.last?.contains("[8 bytes of unknown type") == true)
    }

    @Test func responseIsDeliveredToAFile() async throws {
        let server = try LoopbackServer(.response(200, [:], "contents"))
        let path = NSTemporaryDirectory() + "beaglenet-\(UUID().uuidString)"
        defer { unlink(path) }
        let response = try await ask(server.url) { $0.delivery = .file(path: path) }
        #expect(response.body.data == Data())
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("contents".utf8))
    }

    @Test func truncatedResponseLeavesNoFile() async throws {
        let server = try LoopbackServer(.sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .close]))
        let path = NSTemporaryDirectory() + "beaglenet-\(UUID().uuidString)"
        let error = try await failure(server.url) { $0.delivery = .file(path: path) }
        #expect(error.kind == .truncated)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(arguments: [HTTPResponse.Status.notFound, .internalServerError, .notModified, .noContent])
    func anyStatusIsAResponse(status: HTTPResponse.Status) async throws {
        let server = try LoopbackServer(.response(status.code))
        #expect(try await ask(server.url).head.status == status)
    }

    // MARK: redirects

    @Test func redirectFollowsTheCommonPolicy() async throws {
        let other = try LoopbackServer(.response(200, [:], "there"))
        let server = try LoopbackServer(.response(302, ["Location": "\(other.url)/b"], "elsewhere"))
        let fields: HTTPFields = [.authorization: "Bearer secret", HTTPField.Name("X-Api-Key")!: "secret"]
        let response = try await ask(server.url + "/a", .post, HTTPBody("body"), fields: fields)
        #expect(response.body.data == Data("there".utf8))
        #expect(response.url == other.url + "/b")
        #expect(response.metrics.redirects == 1)
        let request = try #require(other.requests.first)
        #expect(request.method == "GET")
        #expect(request["Authorization"] == nil)
        #expect(request["X-Api-Key"] == nil)
        #expect(request.body.isEmpty)
    }

    @Test func redirectObserverCanAddFieldsToTheNextRequest() async throws {
        let other = try LoopbackServer(.response(200))
        let server = try LoopbackServer(.response(302, ["Location": "\(other.url)/b"]))
        let fields: HTTPFields = [.authorization: "Bearer secret"]
        let received = Lock<[String]>([])
        _ = try await ask(server.url + "/a", fields: fields) { request in
            request.onRedirect = { answer, followed, next in
                received.withLock { $0.append("\(answer.status.code) \(followed) \(next.head.path ?? "")") }
                if next.head.headerFields[.authorization] == nil {
                    next.head.headerFields[.authorization] = "Bearer others"
                }
            }
        }
        #expect(received.withLock { $0 } == ["302 0 /b"])
        #expect(other.requests.map { $0["Authorization"] } == ["Bearer others"])
    }

    @Test func manualPolicyReturnsTheRedirect() async throws {
        let server = try LoopbackServer(.response(302, ["Location": "/b"], "elsewhere"))
        let response = try await ask(server.url) { $0.options.redirects = .manual }
        #expect(response.head.status == .found)
        #expect(response.head.headerFields[.location] == "/b")
        #expect(server.requests.count == 1)
    }

    @Test func redirectsAreLimited() async throws {
        let server = try LoopbackServer(.response(307, ["Location": "/"]))
        let error = try await failure(server.url) { $0.options.redirects.limit = 2 }
        #expect(error.kind == .tooManyRedirects)
        #expect(error.phase == .redirect)
        #expect(server.requests.count == 3)
    }

    // MARK: limits

    @Test func firstByteTimeoutEndsASilentServer() async throws {
        let server = try LoopbackServer(.stall)
        let error = try await failure(server.url) { $0.options.timeouts.firstByte = .milliseconds(50) }
        #expect(error.isTimeout)
        #expect(error.phase == .firstByte)
        #expect(error.advice?.contains("Timeouts.firstByte") == true)
    }

    @Test func idleTimeoutEndsAStalledBody() async throws {
        let server = try LoopbackServer(.sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .stall]))
        let error = try await failure(server.url) { $0.options.timeouts.idle = .milliseconds(50) }
        #expect(error.isTimeout)
        #expect(error.phase == .body)
        #expect(error.data == Data("half".utf8))
        #expect(error.response?.status == .ok)
    }

    @Test func totalTimeoutEndsAnEndlessBody() async throws {
        let server = try LoopbackServer(
            .sequence([.raw("HTTP/1.1 200 OK\r\n\r\n"), .dribble(Data(count: 1 << 20), every: .milliseconds(1))])
        )
        let error = try await failure(server.url) { $0.options.timeouts.total = .milliseconds(100) }
        #expect(error.isTimeout)
        #expect(error.advice?.contains("Timeouts.total") == true)
    }

    @Test func tooLargeBodyIsRejected() async throws {
        let server = try LoopbackServer(.sequence([.raw("HTTP/1.1 200 OK\r\n\r\n"), .endless("more and more ")]))
        let error = try await failure(server.url) { $0.options.maxBodyBytes = 1_000 }
        #expect(error.kind == .tooLarge)
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func unsupportedTrustIsRejected() async throws {
        let server = try LoopbackServer(.response(200))
        let error = try await failure(server.url) { $0.options.trust = .file(path: "/ca.pem") }
        #expect(error.kind == .unsupported)
        #expect(server.record.connections == 0)
    }

    struct Option: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout TransferOptions) -> Void

        init(_ name: String, _ set: @escaping @Sendable (inout TransferOptions) -> Void) {
            testDescription = name
            self.set = set
        }
    }

    static let unknown = [
        Option("addressGuard") { $0.addressGuard = .publicOnly },
        Option("timeouts.resolve") { $0.timeouts.resolve = .seconds(1) },
        Option("timeouts.tls") { $0.timeouts.tls = .seconds(1) },
        Option("bandwidth") { $0.bandwidth.receive = 1 },
        Option("version") { $0.version = .http1 },
        Option("minimumSpeed") { $0.minimumSpeed = TransferOptions.MinimumSpeed(bytesPerSecond: 1) },
        Option("expect") { $0.expect = .ask() },
        Option("onInterim") { $0.onInterim = TransferOptions.Hook { _ in } },
        Option("keepsRequestHead") { $0.keepsRequestHead = true },
    ]

    @Test(arguments: unknown) func unsupportedOptionIsRejected(_ option: Option) async throws {
        let server = try LoopbackServer(.response(200))
        let error = try await failure(server.url) { option.set(&$0.options) }
        #expect(error.kind == .unsupported)
        #expect(error.message == "URLSession does not support TransferOptions.\(option.testDescription)")
        #expect(server.record.connections == 0)
    }

    @Test(arguments: [false, true]) func endlessResponseIsRejected(_ isLongLived: Bool) async throws {
        let server = try LoopbackServer(.response(200))
        let error = try await failure(server.url) { request in
            request.delivery = .stream
            request.options.isLongLived = isLongLived
            if !isLongLived { request.head.headerFields[.accept] = "text/event-stream" }
        }
        #expect(error.kind == .unsupported)
        #expect(server.record.connections == 0)
    }

    /// A reused connection that the server closes after it has read the request.
    @Test(arguments: [HTTPRequest.Method.get, .put, .delete, .post], [false, true])
    func requestIsResentOnlyIfItsOperationAllowsIt(_ method: HTTPRequest.Method, ofAForm isForm: Bool) async throws {
        let server = try LoopbackServer { request in
            request.target == "/second" && request.connection == 1 ? .close : .response(200)
        }
        _ = try await ask(server.url + "/first")
        let body = method == .put || method == .post ? HTTPBody("pay") : nil
        _ = try? await ask(server.url + "/second", method, body) {
            if isForm { $0.resendPolicy = .ifSafe }
            // URLSession may miss the end of the connection.
            $0.options.timeouts.total = .seconds(10)
        }
        let mayBeSentAgain = method == .get || (!isForm && method != .post)
        let copies = server.requests.count { $0.target == "/second" }
        #expect(copies == 1 || (copies == 2 && mayBeSentAgain))
    }

    // MARK: completion

    @Test func cancellingEndsAPendingTransfer() async throws {
        let server = try LoopbackServer(.stall)
        let task = Task { try await ask(server.url) }
        await server.until { $0.requestCount == 1 }
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.isCancelled == true)
        #expect(error?.mayHaveReachedServer == true)
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func cancellingBeforeTheStartSendsNothing() async throws {
        let server = try LoopbackServer(.response(200))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await ask(server.url)
        }
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.isCancelled == true)
        #expect(error?.request?.url?.absoluteString == server.url + "/")
        #expect(error?.mayHaveReachedServer == false)
        #expect(server.record.connections == 0)
    }

    @Test func completionIsCalledOnceDespiteRepeatedCancellation() async throws {
        let server = try LoopbackServer(.response(200))
        let url = try #require(URL(string: server.url))
        for _ in 0..<50 {
            await confirmation(expectedCount: 1) { called in
                await withCheckedContinuation { continuation in
                    let token = transport.perform(TransferRequest(HTTPRequest(url: url))) { _ in
                        called()
                        continuation.resume()
                    }
                    token.cancel()
                    token.cancel()
                }
            }
        }
    }

    @Test func transferOutlivesItsTransport() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer { request in
            .sequence([.gate(gate), .response(200, [:], "late")])
        }
        let request = TransferRequest(HTTPRequest(url: try #require(URL(string: server.url))))
        var brief: URLSessionTransport? = URLSessionTransport()
        let result = await withCheckedContinuation { continuation in
            _ = brief?.perform(request) { continuation.resume(returning: $0) }
            brief = nil
            gate.open()
        }
        #expect(try result.get().body.data == Data("late".utf8))
    }

    @Test func closedPortIsAConnectError() async throws {
        let error = try await failure("http://127.0.0.1:1")
        #expect(error.kind == .connect)
        #expect(!error.mayHaveReachedServer)
        #expect(error.request?.authority == "127.0.0.1:1")
    }

    @Test func networkClientRunsOnTheTransport() async throws {
        let server = try LoopbackServer(.response(404, [:], "none"))
        let client = NetworkClientDefault(dependencies: BeagleDependencies(.test), transport: transport)
        let request = Request(url: try #require(URL(string: server.url)), type: .fetchComponent)
        let error = await #expect(throws: NetworkError.self) { try await client.executeRequest(request) }
        #expect(error?.kind == .status)
        #expect(error?.data == Data("none".utf8))
    }
}
