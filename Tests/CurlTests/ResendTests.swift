import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// A reused connection that fails during a request: repeatable requests are resent once, others never.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct ResendTests {
    let transport = CurlTransport()

    /// Makes a server that ends its first connection when it receives "/second" there.
    private func server(_ ending: LoopbackServer.Response = .close) throws -> LoopbackServer {
        try LoopbackServer { request in
            request.target == "/second" && request.connection == 1 ? ending : .response(200, [:], request.method)
        }
    }

    private func warmUp(_ server: LoopbackServer) async throws {
        _ = try await transport.perform(server.request(.get, "/first"))
    }

    static let endings: [LoopbackServer.Response] = [.close, .reset]

    @Test(arguments: [.get, .put, .delete, .options] as [HTTPRequest.Method], endings)
    func idempotentRequestIsResentOnce(_ method: HTTPRequest.Method, _ ending: LoopbackServer.Response) async throws {
        let server = try server(ending)
        try await warmUp(server)
        let body = method == .put ? HTTPBody("body") : nil
        let response = try await transport.perform(server.request(method, "/second", body: body))
        #expect(try await response.text() == method.rawValue)
        #expect(response.metrics.resends == 1)
        let copies = server.requests.filter { $0.target == "/second" }
        #expect(copies.map(\.connection) == [1, 2])
        let last = try #require(copies.last)
        #expect(response.metrics.headBytesSent == Int64(last.raw.count - last.body.count))
        #expect(copies.allSatisfy { $0.body == Data((body == nil ? "" : "body").utf8) })
    }

    /// Nothing was sent on a connection that turns out to be stale, so the body was not read either.
    @Test func streamedBodyIsSentAfterAStaleConnection() async throws {
        let server = try LoopbackServer { request in
            let answer = LoopbackServer.Response.response(200, [:], request.body)
            guard request.target == "/first" else { return answer }
            return .sequence([answer, .raw("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")])
        }
        try await warmUp(server)
        #expect(await server.until { $0.responses == 1 })
        let chunks = AsyncStream([Data("one ".utf8), Data("two ".utf8), Data("three".utf8)])
        let response = try await transport.perform(server.request(.post, "/second", body: .stream { chunks }))
        #expect(try await response.text() == "one two three")
        #expect(server.requests.filter { $0.target == "/second" }.count == 1)
    }

    struct Submission: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var method = HTTPRequest.Method.post
        let body: HTTPBody?
    }

    static let submissions = [
        Submission(testDescription: "POST", body: HTTPBody("pay")),
        Submission(testDescription: "POST of 1 MiB", body: HTTPBody(Data(count: 1 << 20))),
        Submission(testDescription: "POST of nothing", body: HTTPBody()),
        Submission(testDescription: "POST without body", body: nil),
        Submission(testDescription: "PATCH", method: .patch, body: HTTPBody("pay")),
        Submission(testDescription: "POST of a stream", body: .stream { AsyncStream([Data("pay".utf8)]) }),
        Submission(
            testDescription: "POST of a replayable stream",
            body: .stream(length: 3, isReplayable: true) { AsyncStream([Data("pay".utf8)]) }
        ),
        Submission(
            testDescription: "PUT of a stream that cannot be replayed",
            method: .put,
            body: .stream { AsyncStream([Data("pay".utf8)]) }
        ),
    ]

    @Test(arguments: submissions, endings)
    func nonRepeatableRequestIsNotResent(_ submission: Submission, _ ending: LoopbackServer.Response) async throws {
        let server = try server(ending)
        try await warmUp(server)
        let error = try await transport.failure(
            of: server.request(submission.method, "/second", body: submission.body)
        )
        #expect(error.kind == .network, "\(error)")
        #expect(error.mayHaveReachedServer)
        #expect(!error.isRetryable || submission.method == .put)
        #expect(error.message.contains("replayed") == (submission.method == .put), "\(error)")
        try await transport.proveHealth()
        #expect(server.requests.count { $0.target == "/second" } == 1)
    }

    /// The body stream is restarted, even if it was read to its end.
    @Test(arguments: endings) func replayableStreamIsResent(_ ending: LoopbackServer.Response) async throws {
        let server = try server(ending)
        try await warmUp(server)
        let begins = Lock(0)
        let body = HTTPBody.stream(isReplayable: true) {
            begins.withLock { $0 += 1 }
            return AsyncStream([Data("one ".utf8), Data("two".utf8)])
        }
        #expect(try await transport.perform(server.request(.put, "/second", body: body)).text() == "PUT")
        let copies = server.requests.filter { $0.target == "/second" }
        #expect(copies.map(\.body) == Array(repeating: Data("one two".utf8), count: 2))
        #expect(begins.withLock { $0 } == 2)
    }

    private static let requestIsResentIfItsOperationAllowsItArguments:
        [(HTTPRequest.Method, TransferRequest.ResendPolicy, Bool, Int)] = [
            (.put, .ifSafe, false, 1), (.delete, .ifSafe, false, 1), (.get, .ifSafe, false, 2),
            (.put, .never, false, 1), (.put, .never, true, 2), (.put, .ifSafe, true, 2), (.post, .always, false, 2),
            (.put, .ifIdempotent, false, 2),
        ]

    /// The operation decides whether a request may be resent, not only its method.
    @Test(arguments: Self.requestIsResentIfItsOperationAllowsItArguments)
    func requestIsResentIfItsOperationAllowsIt(
        _ method: HTTPRequest.Method,
        _ resendPolicy: TransferRequest.ResendPolicy,
        withKey hasKey: Bool,
        _ copies: Int
    ) async throws {
        let server = try server()
        try await warmUp(server)
        var request = try server.request(method, "/second", body: method == .get ? nil : HTTPBody("pay"))
        request.resendPolicy = resendPolicy
        if hasKey { request.head.headerFields[.idempotencyKey] = "1" }
        if copies == 2 {
            #expect(try await transport.perform(request).text() == method.rawValue)
        } else {
            let error = try await transport.failure(of: request)
            #expect(error.kind == .network && !error.isRetryable, "\(error)")
        }
        #expect(server.requests.count { $0.target == "/second" } == copies)
    }

    @Test func formRedirectedToGetMayBeResent() async throws {
        let server = try LoopbackServer { request in
            switch request.target {
            case "/form": .response(303, ["Location": "/second"])
            case "/second" where request.connection == 1: .close
            default: .response(200, [:], request.method)
            }
        }
        var request = try server.request(.put, "/form", body: HTTPBody("pay"))
        request.resendPolicy = .ifSafe
        #expect(try await transport.perform(request).text() == "GET")
        #expect(server.requests.map(\.target) == ["/form", "/second", "/second"])
    }

    @Test func postWithIdempotencyKeyIsResent() async throws {
        let server = try server()
        try await warmUp(server)
        let request = try server.request(.post, "/second", ["Idempotency-Key": "1"], body: HTTPBody("pay"))
        #expect(try await transport.perform(request).text() == "POST")
        #expect(
            server.requests.filter { $0.target == "/second" }.map(\.body)
                == Array(repeating: Data("pay".utf8), count: 2)
        )
    }

    @Test func failureOfANewConnectionIsAnError() async throws {
        let server = try LoopbackServer(.close)
        let error = try await transport.failure(of: server.request())
        #expect(error.kind == .network)
        #expect(server.record.requestCount <= 2)
    }

    @Test func resendingEndsWhenEveryConnectionFails() async throws {
        let server = try LoopbackServer { $0.target == "/first" ? .response(200) : .close }
        try await warmUp(server)
        #expect(try await transport.failure(of: server.request(.get, "/second")).kind == .network)
        #expect(server.requests.count { $0.target == "/second" } <= 3)
    }

    @Test func requestIsNotResentAfterAPartialBody() async throws {
        let server = try server(.sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .close]))
        try await warmUp(server)
        #expect(try await transport.failure(of: server.request(.get, "/second")).kind == .truncated)
        #expect(server.requests.count { $0.target == "/second" } == 1)
    }

    @Test func requestIsNotResentAfterAPartialHead() async throws {
        let server = try server(.sequence([.raw("HTTP/1.1 200 OK\r\n"), .close]))
        try await warmUp(server)
        let error = try await transport.failure(of: server.request(.post, "/second", body: HTTPBody("pay")))
        #expect([.network, .truncated, .protocol].contains(error.kind))
        #expect(server.requests.count { $0.target == "/second" } == 1)
    }

    @Test func status408OnAReusedConnectionIsRetriedOnANewOne() async throws {
        let server = try server(.sequence([.response(408, ["Connection": "close"]), .close]))
        try await warmUp(server)
        #expect(try await transport.perform(server.request(.get, "/second")).head.status.code == 200)
        #expect(server.requests.filter { $0.target == "/second" }.map(\.connection) == [1, 2])
    }

    @Test func status408OfAPostIsReturned() async throws {
        let server = try server(.response(408))
        try await warmUp(server)
        let request = try server.request(.post, "/second", body: HTTPBody("pay"))
        #expect(try await transport.perform(request).head.status.code == 408)
        #expect(server.requests.count { $0.target == "/second" } == 1)
    }
}
