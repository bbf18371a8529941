import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Fields after the body (RFC 9110, 6.5).
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct TrailerTests {
    let transport = CurlTransport()

    private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n4\r\nbody\r\n"

    @Test func trailersAreSeparateFromTheHead() async throws {
        let server = try LoopbackServer(.raw("\(Self.head)0\r\nX-Sum: 1\r\nx-sum:  2 \r\nContent-Length: 9\r\n\r\n"))
        let response = try await transport.perform(server.request())
        #expect(response.trailers[values: .sum] == ["1", "2"])
        #expect(response.trailers[.contentLength] == "9")
        #expect(response.trailers.count == 3)
        #expect(response.head.headerFields[.sum] == nil)
        #expect(response.head.headerFields[.contentLength] == nil)
        #expect(try await response.text() == "body")
    }

    @Test func trailersOfAStreamAreAvailableAfterItsEnd() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(
            .sequence([.raw(Self.head), .gate(gate), .raw("0\r\nX-Sum: 1\r\n\r\n")])
        )
        let response = try await transport.perform(server.request(delivery: .stream))
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("body".utf8))
        #expect(response.trailers.isEmpty)
        gate.open()
        #expect(try await chunks.next() == nil)
        #expect(response.trailers == [.sum: "1"])
    }

    @Test func trailersOfHTTP2AreReturned() async throws {
        let port = try #require(FramePeer.shared.get().ports["trailers"])
        let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: "/")
        let options = TransferOptions(timeouts: TransferOptions.Timeouts(total: .seconds(20)), version: .http2)
        let response = try await transport.perform(TransferRequest(head, options: options))
        #expect(response.trailers[values: .sum] == ["1", "2"])
        #expect(response.head.headerFields[.sum] == nil)
        #expect(try await response.text() == "ok")
    }

    @Test func trailersAreEmptyByDefault() async throws {
        let server = try LoopbackServer(.chunked([Data("body".utf8)]))
        #expect(try await transport.perform(server.request()).trailers.isEmpty)
    }

    @Test(arguments: ["no field", "X Sum: 1", ": 1"])
    func malformedTrailerIsAnError(_ line: String) async throws {
        let server = try LoopbackServer(.raw("\(Self.head)0\r\n\(line)\r\n\r\n"))
        let error = try await transport.failure(of: server.request())
        #expect(error.kind == .protocol, "\(error)")
        try await transport.proveHealth()
    }
}

extension HTTPField.Name {
    fileprivate static let sum = Self("X-Sum")!
}
