import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Limits of the responses that a server may send.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct LimitTests {
    private static func lines(_ count: Int, of length: Int = 1) -> String {
        (0..<count).map { "X-\($0): \(String(repeating: "v", count: length))\r\n" }.joined()
    }

    private static func response(_ lines: String) -> LoopbackServer.Response {
        .raw("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 2\r\n\r\nok")
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"

    static let heads = [
        Case("200 KiB of lines", response(lines(200, of: 1_000)), .response(200, "ok")),
        Case("1,900 lines", response(lines(1_900)), .response(200, "ok")),
        Case("300 KiB of lines", response(lines(300, of: 1_000)), .failure([.tooLarge])),
        Case("2,100 lines", response(lines(2_100)), .failure([.tooLarge])),
        Case("a line of 90 KiB", response(lines(1, of: 90 << 10)), .either(200, [.tooLarge])),
        Case("a line without end", .sequence([.raw(ok + "X: "), .endless("xxxx")]), .failure([.tooLarge])),
        Case("lines without end", .sequence([.raw(ok), .endless("X: y\r\n")]), .failure([.tooLarge])),
        Case(
            "64 interim responses",
            .sequence([.raw(String(repeating: "HTTP/1.1 103 E\r\n\r\n", count: 64)), .response(200, [:], "ok")]),
            .response(200, "ok")
        ),
        Case("interim responses without end", .endless("HTTP/1.1 103 E\r\n\r\n"), .failure([.protocol, .tooLarge])),
        Case(
            "trailers without end",
            .sequence([.raw(ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n"), .endless("X: y\r\n")]),
            .failure([.tooLarge])
        ),
    ]

    @Test(arguments: heads) func headIsLimited(_ row: Case) async throws {
        try await row.run()
    }

    @Test func errorExplainsThatAFieldIsTooLarge() async throws {
        let server = try LoopbackServer(Self.response(Self.lines(1, of: 110_000)))
        let error = try await CurlTransport().failure(of: server.request())
        #expect(error.kind == .tooLarge)
        #expect(error.message.contains("header field is larger than"), "\(error)")
    }

    private static let small = TransferOptions(
        timeouts: TransferOptions.Timeouts(total: .seconds(20)),
        maxBodyBytes: 1_000
    )
    private static func body(_ count: Int) -> String { String(repeating: "b", count: count) }

    static let bodies = [
        Case("as large as allowed", .response(200, [:], body(1_000)), .response(200, body(1_000)), options: small),
        Case("one byte more", .response(200, [:], body(1_001)), .failure([.tooLarge]), options: small),
        Case("one byte more, chunked", .chunked([Data(body(1_001).utf8)]), .failure([.tooLarge]), options: small),
        Case(
            "chunked without end",
            .sequence([.raw(ok + "Transfer-Encoding: chunked\r\n\r\n"), .endless("4\r\nbody\r\n")]),
            .failure([.tooLarge]),
            options: small
        ),
        Case(
            "HEAD of a large body",
            .response(200, [:], body(5_000)),
            .response(200, ""),
            method: .head,
            options: small
        ),
        Case(
            "an error's body counts as well",
            .response(500, [:], body(1_001)),
            .failure([.tooLarge]),
            options: small
        ),
        Case("a promise beyond the limit", .raw(ok + "Content-Length: 9999999999\r\n\r\n"), .failure([.tooLarge])),
    ]

    @Test(arguments: bodies) func bodyIsLimited(_ row: Case) async throws {
        try await row.run()
    }

    @Test(arguments: [TransferRequest.Delivery.collect, .stream])
    func compressedBodyIsLimitedByItsDecodedSize(_ delivery: TransferRequest.Delivery) async throws {
        let bomb = try Deflated.gzip(Data(count: 64 << 20))
        #expect(bomb.count < 100 << 10)
        let server = try LoopbackServer(.response(200, ["Content-Encoding": "gzip"], bomb))
        let transport = CurlTransport()
        let options = TransferOptions(maxBodyBytes: 1 << 20)
        let error = try await transport.failure(of: server.request(options: options, delivery: delivery))
        #expect(error.kind == .tooLarge)
        let decoded = try #require(error.metrics).decodedBytes
        #expect(decoded <= 2 << 20)
        try await transport.proveHealth()
    }

    @Test func bodyIsUnlimitedWithoutALimit() async throws {
        let server = try LoopbackServer(.response(200, [:], Data(count: 20 << 20)))
        let response = try await CurlTransport().perform(server.request(options: TransferOptions(maxBodyBytes: nil)))
        #expect(try await response.body.collect().count == 20 << 20)
    }
}
