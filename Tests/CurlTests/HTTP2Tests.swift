import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// HTTP/2 with nginx, if it is installed.
@Suite(.leavesNothing, .timeLimit(.minutes(5)), .enabled(if: NginxPeer.isAvailable, "nginx is not installed"))
struct HTTP2Tests {
    let transport = CurlTransport()
    let peer: NginxPeer

    init() throws {
        peer = try NginxPeer.shared.get()
    }

    struct Version: Sendable, CustomTestStringConvertible {
        let requested: HTTPVersion
        let isSecure: Bool
        let spoken: String
        var testDescription: String { "\(requested)\(isSecure ? " over TLS" : "")" }
    }

    static let versions = [
        Version(requested: .automatic, isSecure: true, spoken: "HTTP/2"),
        Version(requested: .http2, isSecure: true, spoken: "HTTP/2"),
        Version(requested: .http1, isSecure: true, spoken: "HTTP/1.1"),
        Version(requested: .http2, isSecure: false, spoken: "HTTP/2"),
    ]

    @Test(arguments: versions) func requestedVersionIsUsed(_ version: Version) async throws {
        let request = peer.request("/a?b", version: version.requested, port: version.isSecure ? \.secure : \.plain)
        let response = try await transport.perform(request)
        #expect(response.metrics.protocolName == version.spoken)
        #expect(try await response.text().contains(version.spoken == "HTTP/2" ? "HTTP/2.0 /a?b" : "HTTP/1.1 /a?b"))
    }

    @Test func manyRequestsShareOneConnection() async throws {
        #expect(try await connections(of: 50, at: \.secure).count == 1)
    }

    /// Without TLS libcurl 7.88 can't reuse a connection. Later versions use one for all requests.
    @Test func manyRequestsWithoutTLSAllSucceed() async throws {
        #expect(try await (1...50).contains(connections(of: 50, at: \.plain).count))
        for _ in 1...5 {
            let request = peer.request("/x", method: .post, version: .http2, port: \.plain, body: .init("x"))
            #expect(try await transport.perform(request).head.status.code == 200)
        }
    }

    /// nginx sends GOAWAY after five requests on a connection.
    @Test func requestsContinueAfterGoAway() async throws {
        #expect(try await connections(of: 40, at: \.few).count >= 8)
    }

    /// The server allows one stream at a time, although many requests are started concurrently.
    @Test func requestsSucceedWithOneStreamAtATime() async throws {
        _ = try await connections(of: 20, at: \.single)
    }

    /// Sends requests concurrently and returns nginx's numbers of the connections that they used.
    private func connections(
        of count: Int,
        at port: any KeyPath<NginxPeer.Ports, UInt16> & Sendable
    ) async throws -> Set<Substring> {
        try await withThrowingTaskGroup { group in
            for number in 1...count {
                group.addTask {
                    let request = peer.request("/\(number)", version: .http2, port: port)
                    let words = try await transport.perform(request).text().split(separator: " ")
                    #expect(words.last == "/\(number)")
                    return words.first ?? ""
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
    }

    @Test func uploadsAndDownloadsAreComplete() async throws {
        let bytes = StreamTests.pattern(8 << 20)
        let pieces = stride(from: 0, to: bytes.count, by: 1 << 16).map { bytes[$0..<($0 + 1 << 16)] }
        for (name, body) in [("data", HTTPBody(bytes)), ("stream", .stream { AsyncStream(pieces) })] {
            let put = try await transport.perform(peer.request("/files/\(name)", method: .put, body: body))
            #expect(put.head.status.code == 201)
            #expect(put.metrics.protocolName == "HTTP/2")
            #expect(try await transport.perform(peer.request("/files/\(name)")).body.collect() == bytes)
        }
    }

    @Test func pausedStreamDoesNotBlockOthersOnTheConnection() async throws {
        let paused = try await transport.perform(peer.request("/files/large", delivery: .stream))
        for number in 1...20 {
            let response = try await transport.perform(peer.request("/\(number)"))
            #expect(response.metrics.isConnectionReused)
        }
        #expect(try await paused.body.collect().count == 16 << 20)
    }

    @Test func decoderWaitsForItsReader() async throws {
        let bomb = HTTPBody(try Deflated.gzip(Data(count: 16 << 20)))
        let put = try await transport.perform(peer.request("/files/bomb", method: .put, body: bomb))
        #expect(put.status.code == 201)
        let bombed = try await transport.perform(peer.request("/gzip/bomb", delivery: .stream))
        let other = try await transport.perform(peer.request("/other"))
        #expect(bombed.metrics.protocolName == "HTTP/2" && other.metrics.isConnectionReused)
        var count = 0
        for try await chunk in bombed.body { count += chunk.count }
        #expect(count == 16 << 20)
        #if COUNTS_LEFTOVERS
            #expect(try #require(ResourceTracker.current).peak(.buffered) <= 2 * (1 << 20 + 64 << 10))
        #endif
    }

    @Test func cancelledStreamKeepsTheConnectionOpen() async throws {
        let first = try await transport.perform(peer.request("/one")).text().split(separator: " ").first
        let completion = Completion()
        let token = transport.perform(peer.request("/files/large", delivery: .stream), completion: completion.complete)
        let response = try await completion.result.get()
        token.cancel()
        await #expect(throws: NetworkError.self) { try await response.body.collect() }
        let next = try await transport.perform(peer.request("/two")).text().split(separator: " ").first
        #expect(first == next)
    }

    @Test func headHasNoBody() async throws {
        let response = try await transport.perform(peer.request("/files/large", method: .head))
        #expect(response.head.headerFields[.contentLength] == "16777216")
        #expect(try await response.body.collect().isEmpty)
    }
}

/// HTTP/2 servers that violate the framing rules, scripted in Python if it is installed.
@Suite(
    .leavesNothing,
    .timeLimit(.minutes(5)),
    .enabled(if: TLSPeer.isAvailable, "python3 is not installed")
)
struct HTTP2FrameTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expected: Expectation

        init(_ name: String, _ expected: Expectation) {
            testDescription = name
            self.expected = expected
        }
    }

    /// libcurl 8.14 sometimes accepts such a frame and keeps waiting, in its own loop as well, until a timeout.
    private static let endOfConnection: [NetworkError.Kind] = [.network, .protocol] + (isLibcurl8 ? [.timeout] : [])

    static let rows = [
        Row("plain", .response(200, "ok")),
        Row("padded", .response(200, "ok")),
        Row("goaway-after-this-stream", .response(200, "ok")),
        Row("goaway-protocol-error", .failure([.network, .protocol])),
        Row("rst-internal-error", .failure([.network, .protocol])),
        Row("rst-in-the-body", .failure([.network, .protocol, .truncated])),
        Row("close-before-the-head", .failure([.network, .protocol, .truncated])),
        Row("close-in-the-body", .failure([.network, .protocol, .truncated])),
        Row("no-status", .failure([.network, .protocol])),
        Row("undecodable-head", .failure(endOfConnection)),
        Row("data-on-stream-0", .failure(endOfConnection)),
        Row("push-although-disabled", .either(200, [.network, .protocol])),
        Row("interim", .response(200, "ok")),
        Row("unknown-frame", .response(200, "ok")),
        Row("ping", .response(200, "ok")),
        Row("rst-no-error-after-the-end", .response(200, "ok")),
        Row("two-headers", .response(200, "ok")),
        Row("connection-field", .either(200, [.network, .protocol])),
        Row("upper-case-field", .either(200, [.network, .protocol])),
        Row("line-break-in-a-value", .either(200, [.network, .protocol])),
        Row("nul-in-a-value", .either(200, [.network, .protocol])),
        Row("two-statuses", .failure([.network, .protocol])),
        Row("status-that-is-no-number", .failure([.network, .protocol])),
        Row("data-before-the-head", .failure(endOfConnection)),
        Row("data-after-the-end", .either(200, [.network, .protocol])),
        Row("head-on-stream-0", .failure(endOfConnection)),
        Row("head-on-an-unknown-stream", .failure(endOfConnection)),
        Row("continuation-of-nothing", .failure(endOfConnection)),
        // libcurl 7.88 takes the end of the connection for the end of the body here, because the body has no length.
        Row("frame-too-large", .either(200, endOfConnection + [.truncated])),
        Row("window-update-of-0", .failure([.timeout, .network, .protocol, .truncated])),
        Row("window-overflow", .failure([.timeout, .network, .protocol, .truncated])),
        Row("settings-with-a-bad-push", .failure(endOfConnection)),
        Row("settings-with-a-bad-window", .failure(endOfConnection)),
        Row("settings-with-a-bad-frame-size", .failure(endOfConnection)),
        Row("settings-of-a-bad-length", .failure(endOfConnection)),
        Row("padding-longer-than-the-frame", .failure([.timeout, .network, .protocol, .truncated])),
        Row("body-shorter-than-its-length", .failure([.network, .protocol, .truncated])),
        Row("body-longer-than-its-length", .failure([.network, .protocol, .truncated])),
        Row("http-1-answer", .failure([.network, .protocol])),
        Row("garbage", .failure(endOfConnection)),
        Row("endless-ping", .failure([.timeout, .network, .protocol])),
        Row("endless-continuation", .failure([.timeout, .network, .protocol, .tooLarge])),
        Row("endless-interim", .failure([.timeout, .network, .protocol, .tooLarge])),
        Row("endless-trailers", .either(200, [.timeout, .network, .protocol, .tooLarge, .truncated])),
        Row("endless-window-updates", .failure([.timeout, .network, .protocol])),
        Row("endless-settings", .failure([.timeout, .network, .protocol])),
        Row("endless-empty-data", .failure([.timeout, .network, .protocol, .truncated])),
        Row("endless-rst", .failure([.timeout, .network, .protocol, .truncated])),
    ]

    /// The server reports that it hasn't processed the request (RFC 9113, 8.7), but libcurl doesn't pass that on.
    @Test(arguments: ["refused-once", "sent-away-once"])
    func unprocessedIdempotentRequestIsResent(_ peer: String) async throws {
        let server = try FramePeer()
        // It ends with its input, which closes when it is released.
        defer { withExtendedLifetime(server) {} }
        let port = try #require(server.ports[peer])
        let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: "/")
        var options = TransferOptions.limited
        options.version = .http2
        let response = try await CurlTransport().perform(TransferRequest(head, options: options))
        #expect(try await response.text() == "ok")
        #expect(response.metrics.resends == 1)
    }

    @Test(arguments: ["refused-once", "sent-away-once"])
    func unprocessedPostIsAnError(_ peer: String) async throws {
        let server = try FramePeer()
        // It ends with its input, which closes when it is released.
        defer { withExtendedLifetime(server) {} }
        let port = try #require(server.ports[peer])
        let head = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:\(port)", path: "/")
        var options = TransferOptions.limited
        options.version = .http2
        let request = TransferRequest(head, body: HTTPBody("pay"), options: options)
        let error = try await CurlTransport().failure(of: request)
        #expect([.network, .protocol].contains(error.kind), "\(error)")
        #expect(error.metrics?.resends == 0)
    }

    /// Servers that respond before they have the whole request and stop reading it (RFC 9113, 8.1). libcurl 7.88 loses
    /// a response that it reads together with the end of its stream.
    static let earlyAnswers = [
        Row("early-answer-then-no-error", .response(200, "ok")),
        Row("early-answer-with-length-then-cancel", .response(200, "ok")),
        Row("early-half-answer-then-cancel", .failure([.network, .protocol, .truncated])),
        Row("early-half-answer-with-length-then-no-error", .failure([.network, .protocol, .truncated])),
        Row("early-answer", isLibcurl8 ? .response(200, "ok") : .either(200, [.protocol])),
        Row("early-half-answer", .failure([.network, .protocol, .truncated])),
    ]

    @Test(arguments: earlyAnswers, [false, true])
    func completeResponseIsReturnedBeforeTheRequestIsRead(_ row: Row, onThePortableLoop isPortable: Bool) async throws {
        let port = try #require(FramePeer.shared.get().ports[row.testDescription])
        let head = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:\(port)", path: "/")
        let options = TransferOptions(timeouts: TransferOptions.Timeouts(total: .seconds(20)), version: .http2)
        let transport = CurlTransport(isPortable: isPortable)
        let result: Result<(Int, String), NetworkError>
        do throws(NetworkError) {
            let body = HTTPBody(Data(count: 1 << 20))
            let response = try await transport.perform(TransferRequest(head, body: body, options: options))
            let text = String(decoding: try await response.body.collect(), as: UTF8.self)
            result = .success((response.status.code, text))
        } catch {
            result = .failure(error)
            #expect(error.mayHaveReachedServer)
        }
        row.expected.check(result, sourceLocation: #_sourceLocation)
        try await transport.proveHealth()
    }

    @Test(arguments: rows, [false, true])
    func invalidFramesAreHandled(_ row: Row, onThePortableLoop isPortable: Bool) async throws {
        let port = try #require(FramePeer.shared.get().ports[row.testDescription])
        let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: "/")
        let limit = row.expected.allows(.timeout) ? Duration.milliseconds(300) : .seconds(20)
        let options = TransferOptions(timeouts: TransferOptions.Timeouts(total: limit), version: .http2)
        let transport = CurlTransport(isPortable: isPortable)
        let result: Result<(Int, String), NetworkError>
        do throws(NetworkError) {
            let response = try await transport.perform(TransferRequest(head, options: options))
            let body = try await response.body.collect()
            result = .success((response.head.status.code, String(decoding: body, as: UTF8.self)))
        } catch {
            result = .failure(error)
        }
        row.expected.check(result, sourceLocation: #_sourceLocation)
        try await transport.proveHealth()
    }
}
