import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Bodies of responses that are complete with their head: the transfer doesn't wait for them, and their errors are
/// ignored.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct UnwantedBodyTests {
    let transport = CurlTransport()

    /// The bytes that follow the fields of a head.
    struct Rest: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answers: [LoopbackServer.Response]
        var version = "HTTP/1.1"
        var keepsConnection = false

        init(_ name: String, _ text: String, _ end: LoopbackServer.Response..., version: String = "HTTP/1.1") {
            testDescription = name
            answers = [.raw(text)] + end
            self.version = version
        }

        init(kept name: String, _ text: String) {
            self.init(name, text)
            keepsConnection = true
        }

        func answer(_ status: String, _ field: String) -> LoopbackServer.Response {
            .sequence([.raw("\(version) \(status)\r\n\(field)")] + answers)
        }
    }

    static let rests = [
        Rest("no length and no byte", "\r\n", .stall),
        Rest("no length and no end", "\r\nmoved", .stall),
        Rest("no length and too much", "\r\n", .endless("more and more ")),
        Rest("no length, of HTTP/1.0", "\r\nmoved", .stall, version: "HTTP/1.0"),
        Rest("a length that is not reached", "Content-Length: 9\r\n\r\nmo", .stall),
        Rest("a length that is too large", "Content-Length: 1000000000\r\n\r\nmo", .stall),
        Rest("chunks without an end", "Transfer-Encoding: chunked\r\n\r\n2\r\nmo\r\n", .stall),
        Rest("no chunk", "Transfer-Encoding: chunked\r\n\r\n", .stall),
        Rest("too many chunks", "Transfer-Encoding: chunked\r\n\r\n", .endless("5\r\nmoved\r\n")),
        Rest("a chunk without a size", "Transfer-Encoding: chunked\r\n\r\nZZ\r\n", .stall),
        Rest("trailers without an end", "Transfer-Encoding: chunked\r\n\r\n0\r\n", .endless("A: b\r\n")),
        Rest("a body that is cut off", "Content-Length: 9\r\n\r\nmo", .close),
        Rest("a body that is reset", "Content-Length: 9\r\n\r\nmo", .reset),
        Rest("chunks that are cut off", "Transfer-Encoding: chunked\r\n\r\n2\r\nmo\r\n", .close),
        Rest("the end of the connection", "\r\nmoved", .close),
        Rest(kept: "a whole body", "Content-Length: 5\r\n\r\nmoved"),
        Rest(kept: "whole chunks", "Transfer-Encoding: chunked\r\n\r\n5\r\nmoved\r\n0\r\n\r\n"),
        Rest(kept: "no body", "Content-Length: 0\r\n\r\n"),
    ]

    /// Options with the total timeout only, which a wait for the body would exceed.
    private var options: TransferOptions {
        var options = TransferOptions.limited
        options.timeouts.idle = nil
        options.timeouts.firstByte = nil
        return options
    }

    @Test(arguments: rests) func redirectIsFollowedWithoutWaitingForItsBody(_ rest: Rest) async throws {
        let server = try LoopbackServer { request in
            request.target == "/from" ? rest.answer("302 Found", "Location: /to\r\n") : .response(200, [:], "there")
        }
        let response = try await transport.perform(server.request(.get, "/from", options: options))
        #expect(try await response.text() == "there")
        #expect(response.metrics.hops.map(\.status) == [302])
        #expect(server.requests.map(\.target) == ["/from", "/to"])
        if rest.keepsConnection { #expect(server.record.connections == 1) }
    }

    @Test(arguments: rests) func challengeIsHandledWithoutWaitingForItsBody(_ rest: Rest) async throws {
        let challenge = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n"
        let server = try LoopbackServer { request in
            request["Authorization"] == nil
                ? rest.answer("401 Unauthorized", challenge) : .response(200, [:], request.body)
        }
        var options = options
        options.authentication = .digest(Credentials(user: "user", password: "hunter2"))
        let request = try server.request(.post, body: HTTPBody("text"), options: options)
        #expect(try await transport.perform(request).text() == "text")
        #expect(server.record.requestCount == 2)
        if rest.keepsConnection { #expect(server.record.connections == 1) }
    }

    /// A server that responds before it has the whole request doesn't have to read the rest.
    @Test func redirectDoesNotWaitForTheRestOfTheUpload() async throws {
        let gate = try LoopbackServer.Gate()
        defer { gate.open() }
        let server = try LoopbackServer(readsBodies: false) { request in
            request.target == "/from"
                ? .sequence([.response(303, ["Location": "/to"]), .gate(gate)]) : .response(200, [:], "there")
        }
        let body = HTTPBody(Data(count: 32 << 20))
        let response = try await transport.perform(server.request(.put, "/from", body: body, options: options))
        #expect(try await response.text() == "there")
    }

    /// The server neither reads the rest nor closes the connection.
    @Test(arguments: ["early", ""]) func completeResponseDoesNotWaitForTheRestOfTheUpload(_ text: String) async throws {
        let gate = try LoopbackServer.Gate()
        defer { gate.open() }
        let server = try LoopbackServer(readsBodies: false) { _ in
            .sequence([.response(413, [:], text), .gate(gate)])
        }
        let body = HTTPBody(Data(count: 32 << 20))
        let response = try await transport.perform(server.request(.put, body: body, options: options))
        #expect(response.status.code == 413)
        #expect(try await response.text() == text)
    }

    /// The rest of the request may never be available.
    @Test func redirectDoesNotWaitForAStalledBodyStream() async throws {
        let (chunks, source) = AsyncStream.makeStream(of: Data.self)
        defer { source.finish() }
        source.yield(Data("text".utf8))
        let server = try LoopbackServer(readsBodies: false) { request in
            request.target == "/from"
                ? .sequence([.response(303, ["Location": "/to"]), .stall]) : .response(200, [:], "there")
        }
        let body = HTTPBody.stream { chunks }
        let response = try await transport.perform(server.request(.post, "/from", body: body, options: options))
        #expect(try await response.text() == "there")
    }
}
