import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// The metrics of a transfer. `MessageTests` covers the phases, `StreamTests` the ends of streams.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct MetricsTests {
    let transport = CurlTransport()

    @Test(
        .enabled(if: NginxPeer.isAvailable, "nginx is not installed"),
        arguments: [HTTPVersion.http1, .http2]
    )
    func tlsVersionAndCipherAreReported(_ version: HTTPVersion) async throws {
        for isReused in [false, true] {
            let response = try await transport.perform(NginxPeer.shared.get().request("/tls", version: version))
            let metrics = response.metrics
            #expect(try await response.text() == "\(metrics.tlsVersion) \(metrics.tlsCipher)")
            #expect(metrics.tlsVersion.hasPrefix("TLSv1."))
            #expect(metrics.isConnectionReused == isReused)
            #expect(metrics.requestHead == nil)
        }
    }

    @Test func lookUpTimeIsReportedIfThereWasALookUp() async throws {
        let server = try LoopbackServer(.response(200))
        var request = try server.request()
        request.head.authority = "localhost:\(server.port)"
        let metrics = try await transport.perform(request).metrics
        #expect(metrics.nameLookup > .zero && metrics.nameLookup <= metrics.connect)
        #expect(try await transport.perform(request).metrics.nameLookup == .zero)
    }

    @Test func tlsIsNotReportedForPlainHTTP() async throws {
        let server = try LoopbackServer(.response(200))
        let metrics = try await transport.perform(server.request()).metrics
        #expect(metrics.tlsVersion.isEmpty && metrics.tlsCipher.isEmpty)
    }

    @Test func headBytesAreCounted() async throws {
        let answer = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let server = try LoopbackServer(.raw(answer + "4\r\nbody\r\n0\r\nX-Sum: 1\r\n\r\n"))
        let trailer = "X-Sum: 1\r\n"
        let pieces = HTTPBody.stream {
            AsyncStream<Data> { continuation in
                for piece in ["1", "2345"] { continuation.yield(Data(piece.utf8)) }
                continuation.finish()
            }
        }
        for body in [HTTPBody("12345"), HTTPBody(Data(count: 100_000)), pieces] {
            let metrics = try await transport.perform(server.request(.post, body: body)).metrics
            let request = try #require(server.requests.last)
            let end = try #require(request.raw.firstRange(of: Data("\r\n\r\n".utf8)))
            #expect(metrics.headBytesSent == Int64(end.upperBound - request.raw.startIndex))
            #expect(metrics.headBytesReceived == Int64(answer.utf8.count + trailer.utf8.count))
        }
    }

    /// The second request is started on the loop's thread, so it waits at least until the end of the loop's turn.
    @Test func timeInTheQueueIsReported() async throws {
        let server = try LoopbackServer(.response(200))
        let request = try server.request()
        let metrics = await withCheckedContinuation { continuation in
            transport.perform(request) { _ in
                transport.perform(request) { continuation.resume(returning: try? $0.get().metrics) }
            }
        }
        #expect(try #require(metrics).queued > .zero)
    }

    @Test func requestEndsWithItsBody() async throws {
        let server = try LoopbackServer(.response(200))
        let none = try await transport.perform(server.request()).metrics
        #expect(none.requestEnd == none.requestStart)
        let some = try await transport.perform(server.request(.post, body: HTTPBody(Data(count: 1 << 20)))).metrics
        #expect(some.requestStart < some.requestEnd)
        #expect(some.requestEnd <= some.firstByte)
    }

    @Test func incompletelySentRequestHasNoEnd() async throws {
        let server = try LoopbackServer(readsBodies: false) { _ in
            .sequence([.response(413, ["Connection": "close"]), .finish])
        }
        let request = try server.request(.post, body: HTTPBody(Data(count: 8 << 20)), options: .limited)
        #expect(try await transport.perform(request).metrics.requestEnd == .zero)
    }

    // MARK: - The sent request head

    private static let measuredOptions: TransferOptions = {
        var options = TransferOptions.limited
        options.keepsRequestHead = true
        return options
    }()

    @Test(arguments: [0, 40_000]) func requestHeadIsReportedAsSent(_ length: Int) async throws {
        let server = try LoopbackServer(.response(200))
        let filler = String(repeating: "x", count: length)
        let request = try server.request(
            .post,
            "/a?b",
            ["Authorization": "Bearer tOpSeCrEt", "X-Filler": filler],
            body: HTTPBody("body\r\n\r\nand more"),
            options: Self.measuredOptions
        )
        let metrics = try await transport.perform(request).metrics
        let received = try #require(server.requests.first)
        #expect(metrics.requestHead?.bytes == received.raw.dropLast(received.body.count))
        #expect(!"\(metrics) \(String(reflecting: metrics))".contains("tOpSeCrEt"))
        var dumped = ""
        dump(metrics, to: &dumped)
        #expect(!dumped.contains("tOpSeCrEt"))
    }

    @Test func requestHeadIsThatOfTheLastAttempt() async throws {
        let server = try LoopbackServer { request in
            switch (request.target, request.connection) {
            case ("/first", _): .response(302, ["Location": "/second"])
            case ("/second", 1): .close
            default: .response(200)
            }
        }
        let request = try server.request(.get, "/first", options: Self.measuredOptions)
        let metrics = try await transport.perform(request).metrics
        #expect(metrics.redirects == 1 && metrics.resends == 1)
        #expect(metrics.requestHead?.bytes == server.requests.last?.raw)
        #expect(server.requests.map(\.target) == ["/first", "/second", "/second"])
    }

    @Test func requestHeadOfAFailureIsReported() async throws {
        let server = try LoopbackServer(.close)
        let error = try await transport.failure(of: server.request(.post, options: Self.measuredOptions))
        #expect(error.metrics?.requestHead?.bytes == server.requests.first?.raw)
    }

    @Test(.enabled(if: NginxPeer.isAvailable, "nginx is not installed"))
    func requestHeadOfHTTP2IsReportedInHTTP1Syntax() async throws {
        var request = try NginxPeer.shared.get().request("/a", version: .http2)
        request.options.keepsRequestHead = true
        let head = try #require(try await transport.perform(request).metrics.requestHead)
        let text = String(decoding: head.bytes, as: UTF8.self)
        #expect(text.hasPrefix("GET /a HTTP/2\r\n"))
        #expect(text.hasSuffix("\r\n\r\n"))
    }
}
