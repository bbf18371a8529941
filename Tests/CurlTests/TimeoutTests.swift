import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Dispatch
import Testing

/// The timeouts of a transfer and the phases that their errors name.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct TimeoutTests {
    let transport = CurlTransport()

    private func options(
        connect: Duration? = .seconds(20),
        firstByte: Duration? = .seconds(20),
        idle: Duration? = .seconds(20),
        total: Duration? = .seconds(30)
    ) -> TransferOptions {
        let timeouts = TransferOptions.Timeouts(connect: connect, firstByte: firstByte, idle: idle, total: total)
        return TransferOptions(timeouts: timeouts)
    }

    /// Expects a timeout in the given phase. Doubles the limit, up to 64 times, until the transfer reaches that phase,
    /// because a busy machine is slow.
    private func expectTimeout(
        after limit: Duration,
        during phase: NetworkError.Phase,
        sourceLocation: SourceLocation = #_sourceLocation,
        of request: (Duration) throws -> TransferRequest
    ) async throws {
        var limit = limit
        var error = try await transport.failure(of: request(limit), sourceLocation: sourceLocation)
        for _ in 0..<6 where error.isTimeout && error.phase != phase {
            limit *= 2
            error = try await transport.failure(of: request(limit), sourceLocation: sourceLocation)
        }
        #expect(error.kind == .timeout, "\(error)", sourceLocation: sourceLocation)
        #expect(error.phase == phase, "\(error)", sourceLocation: sourceLocation)
        #expect(error.isTimeout, sourceLocation: sourceLocation)
        #expect(error.advice?.contains("Timeouts.") == true, sourceLocation: sourceLocation)
        try await transport.proveHealth()
    }

    @Test func connectTimeoutEndsAnAttemptToAnUnreachableHost() async throws {
        let backlog = try FullBacklog()
        let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(backlog.port)", path: "/")
        let request = TransferRequest(head, options: options(connect: .milliseconds(150)))
        try await expectTimeout(after: .milliseconds(150), during: .connect) {
            TransferRequest(head, options: options(connect: $0))
        }
        #expect(try await transport.failure(of: request).isOffline)
        #expect(try await !transport.failure(of: request).mayHaveReachedServer)
    }

    @Test func connectTimeoutEndsAHandshakeWithASilentPeer() async throws {
        let server = try LoopbackServer(onConnect: .stall) { _ in .close }
        let head = HTTPRequest(method: .get, scheme: "https", authority: server.authority, path: "/")
        try await expectTimeout(after: .milliseconds(150), during: .tls) {
            TransferRequest(head, options: options(connect: $0))
        }
    }

    @Test func resolveTimeoutDoesNotLimitLaterPhases() async throws {
        let server = try LoopbackServer(
            .sequence([.dribble(Data("HTTP/1.1 2".utf8), every: .milliseconds(50)), .stall])
        )
        try await expectTimeout(after: .milliseconds(200), during: .firstByte) { limit in
            var limits = options(firstByte: limit * 1.5)
            limits.timeouts.resolve = limit
            return try server.request(options: limits)
        }
    }

    @Test func tlsTimeoutEndsAHandshakeWithASilentPeer() async throws {
        let server = try LoopbackServer(onConnect: .stall) { _ in .close }
        let head = HTTPRequest(method: .get, scheme: "https", authority: server.authority, path: "/")
        var limits = options(connect: nil)
        limits.timeouts.tls = .milliseconds(150)
        try await expectTimeout(after: .milliseconds(150), during: .tls) { _ in
            TransferRequest(head, options: limits)
        }
        let error = try await transport.failure(of: TransferRequest(head, options: limits))
        #expect(error.advice?.contains("Timeouts.tls") == true)
    }

    @Test(.enabled(if: TLSPeer.isAvailable, "python3 is not installed"))
    func tlsTimeoutDoesNotLimitLaterPhases() async throws {
        var request = try TLSPeer.shared.get().request("good")
        request.options.timeouts.tls = .seconds(10)
        #expect(try await transport.perform(request).status.code == 200)
    }

    @Test func firstByteTimeoutEndsTheWaitForAResponse() async throws {
        let server = try LoopbackServer(.stall)
        let request = try server.request(options: options(firstByte: .milliseconds(150)))
        try await expectTimeout(after: .milliseconds(150), during: .firstByte) {
            try server.request(options: options(firstByte: $0))
        }
        #expect(try await transport.failure(of: request).mayHaveReachedServer)
    }

    /// More responses than a single poll can report.
    @Test func pendingResponsesDoNotTimeOut() async throws {
        let count = 600
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer { request in
            .sequence([.gate(gate), .response(200)])
        }
        var configuration = CurlTransport.Configuration()
        configuration.maxConnectionsPerOrigin = nil
        configuration.maxConnections = nil
        let transport = CurlTransport(configuration)
        let request = try server.request(options: options(firstByte: .seconds(8)))
        let completions = (0..<count).map { _ in Completion() }
        for completion in completions { transport.perform(request, completion: completion.complete) }
        #expect(await server.until { $0.requestCount == count })

        let held = try LoopbackServer(.response(200))
        let isHeld = DispatchSemaphore(value: 0)
        let goesOn = DispatchSemaphore(value: 0)
        transport.perform(try held.request()) { _ in
            isHeld.signal()
            goesOn.wait()
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                isHeld.wait()
                continuation.resume()
            }
        }
        gate.open()
        #expect(await server.until { $0.responses == count })
        try await Task.sleep(for: .seconds(8))
        goesOn.signal()
        for completion in completions { _ = try await completion.result.get() }
    }

    @Test func firstByteTimeoutEndsASlowHead() async throws {
        let head = "HTTP/1.1 200 OK\r\nX-Long: " + String(repeating: "x", count: 10_000)
        let server = try LoopbackServer(.dribble(Data(head.utf8), every: .milliseconds(20)))
        try await expectTimeout(after: .milliseconds(200), during: .firstByte) {
            try server.request(options: options(firstByte: $0))
        }
    }

    @Test func idleTimeoutEndsAStalledBody() async throws {
        let server = try LoopbackServer(.sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .stall]))
        try await expectTimeout(after: .milliseconds(150), during: .body) {
            try server.request(options: options(idle: $0))
        }
    }

    @Test func idleTimeoutEndsAStalledStream() async throws {
        let server = try LoopbackServer(.sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .stall]))
        try await expectTimeout(after: .milliseconds(150), during: .body) {
            try server.request(options: options(idle: $0), delivery: .stream)
        }
    }

    @Test func idleTimeoutDoesNotEndASlowBody() async throws {
        let body = Data("0123456789".utf8)
        let head = LoopbackServer.Response.raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
        let server = try LoopbackServer(.sequence([head, .dribble(body, every: .milliseconds(100))]))
        let response = try await transport.perform(server.request(options: options(idle: .milliseconds(900))))
        #expect(try await response.text() == "0123456789")
    }

    @Test func totalTimeoutEndsASlowBody() async throws {
        let head = LoopbackServer.Response.raw("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
        let server = try LoopbackServer(
            .sequence([head, .dribble(Data(repeating: 0x41, count: 10_000), every: .milliseconds(20))])
        )
        try await expectTimeout(after: .milliseconds(300), during: .body) {
            try server.request(options: options(total: $0))
        }
    }

    @Test func totalTimeoutEndsASlowHead() async throws {
        let head = "HTTP/1.1 200 OK\r\nX-Long: " + String(repeating: "x", count: 10_000)
        let server = try LoopbackServer(.dribble(Data(head.utf8), every: .milliseconds(20)))
        try await expectTimeout(after: .milliseconds(300), during: .firstByte) {
            try server.request(options: options(firstByte: nil, total: $0))
        }
    }

    @Test func totalTimeoutIncludesRedirects() async throws {
        let server = try LoopbackServer { _ in
            .sequence([
                .dribble(Data("HTTP/1.1 302 Found\r\n".utf8), every: .milliseconds(5)),
                .raw("Location: /on\r\nContent-Length: 0\r\n\r\n"),
            ])
        }
        var error: NetworkError?
        for limit in [400, 1_600, 6_400] where error?.metrics?.redirects ?? 0 == 0 {
            var limits = options(total: .milliseconds(limit))
            limits.redirects = TransferOptions.RedirectPolicy(limit: 1_000)
            error = try await transport.failure(of: server.request(options: limits))
        }
        #expect(error?.kind == .timeout)
        #expect(error?.metrics?.redirects ?? 0 > 0)
        #expect(error?.mayHaveReachedServer == true)
    }

    @Test func totalTimeoutEndsAStalledUpload() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(readsBodies: false) { _ in .gate(gate) }
        let body = HTTPBody(Data(count: 32 << 20))
        try await expectTimeout(after: .milliseconds(300), during: .send) {
            try server.request(.post, body: body, options: options(total: $0))
        }
    }

    @Test func transferWithoutTimeoutsWaitsForTheResponse() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(.sequence([.gate(gate), .response(200)]))
        let limits = options(connect: nil, firstByte: nil, idle: nil, total: nil)
        async let response = transport.perform(server.request(options: limits))
        await server.until { $0.requestCount == 1 }
        gate.open()
        #expect(try await response.head.status.code == 200)
    }

    @Test func idleTimeoutIgnoresAPausedReader() async throws {
        let body = Data(repeating: 1, count: 16 << 20)
        let server = try LoopbackServer(.response(200, [:], body))
        let request = try server.request(options: options(idle: .milliseconds(200)), delivery: .stream)
        let response = try await transport.perform(request)
        // The pipe is full for longer than `idle` before the reader begins.
        await server.until { $0.stalledSends > 0 }
        #expect(try await response.body.collect().count == body.count)
    }
}
