import BeagleNetHTTP
import BeagleNetTesting
import Testing

/// The scripted server, tested through a plain socket.
@Suite(.timeLimit(.minutes(5)))
struct LoopbackServerTests {
    @Test func requestIsRecordedAsReceived() throws {
        let server = try LoopbackServer(.response(200, [:], "ok"))
        let client = try RawClient(port: server.port)
        client.send("PUT /a?b=c HTTP/1.1\r\nhost: here\r\nX-Two: 1\r\nx-two:2\r\nContent-Length: 4\r\n\r\nbody")
        #expect(client.text(upTo: "ok") == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        let request = try #require(server.requests.first)
        #expect([request.method, request.target, request.version] == ["PUT", "/a?b=c", "HTTP/1.1"])
        #expect(request.fields.map(\.name) == ["host", "X-Two", "x-two", "Content-Length"])
        #expect(request.values(of: "X-TWO") == ["1", "2"])
        #expect(request.body == Data("body".utf8))
        #expect(request.raw.count == 77)
    }

    @Test func chunkedRequestBodyIsJoined() throws {
        let server = try LoopbackServer(.response(204))
        let client = try RawClient(port: server.port)
        client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")
        #expect(client.text(upTo: "\r\n\r\n") == "HTTP/1.1 204 No Content\r\n\r\n")
        #expect(server.requests.first?.body == Data("abcde".utf8))
    }

    @Test func connectionServesConsecutiveAndPipelinedRequests() throws {
        let server = try LoopbackServer { .response(200, [:], $0.target) }
        let client = try RawClient(port: server.port)
        client.send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n")
        _ = client.text(upTo: "/2")
        client.send("GET /3 HTTP/1.1\r\n\r\n")
        _ = client.text(upTo: "/3")
        #expect(server.requests.map(\.target) == ["/1", "/2", "/3"])
        #expect(server.record.connections == 1)
    }

    private static let connectionEndsWhenTheClientRequestsItArguments: [(String, Bool)] = [
        ("HTTP/1.1\r\nConnection: x, Close\r\n", true), ("HTTP/1.0\r\n", true),
        ("HTTP/1.0\r\nConnection: keep-alive\r\n", false), ("HTTP/1.1\r\nConnection: x\r\n", false),
    ]

    @Test(arguments: Self.connectionEndsWhenTheClientRequestsItArguments)
    func connectionEndsWhenTheClientRequestsIt(_ version: String, ends: Bool) throws {
        let server = try LoopbackServer(.response(204))
        let client = try RawClient(port: server.port)
        client.send("GET / \(version)\r\n" + "GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(client.text() == String(repeating: "HTTP/1.1 204 No Content\r\n\r\n", count: ends ? 1 : 2))
    }

    @Test func headResponseHasALengthButNoBody() throws {
        let server = try LoopbackServer(.response(200, ["X-A": "b"], "four"))
        let client = try RawClient(port: server.port)
        client.send("HEAD / HTTP/1.1\r\n\r\nHEAD / HTTP/1.1\r\n\r\n")
        let head = "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 4\r\n\r\n"
        #expect(client.text(upTo: head + head) == head + head)
    }

    struct Script: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: LoopbackServer.Response
        let received: String?
    }

    static let scripts = [
        Script(testDescription: "raw and close", answer: .sequence([.raw("abc"), .close]), received: "abc"),
        Script(testDescription: "close", answer: .close, received: ""),
        Script(testDescription: "reset", answer: .reset, received: nil),
        Script(testDescription: "finish", answer: .sequence([.raw("x"), .finish]), received: "x"),
        Script(
            testDescription: "dribble",
            answer: .sequence([.dribble(Data("slow".utf8), every: .milliseconds(1)), .close]),
            received: "slow"
        ),
        Script(
            testDescription: "chunked",
            answer: .sequence([.chunked([Data("abc".utf8), Data()], ["A": "b"]), .close]),
            received: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        ),
    ]

    @Test(arguments: scripts) func responseIsSentAsScripted(_ script: Script) throws {
        let server = try LoopbackServer(script.answer)
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(client.text() == script.received)
    }

    @Test func greetingIsSentBeforeAnyRequest() throws {
        let server = try LoopbackServer(onConnect: .raw("hello")) { _ in .close }
        let client = try RawClient(port: server.port)
        #expect(client.text(upTo: "hello") == "hello")
        #expect(server.requests.isEmpty)
    }

    @Test func gateDelaysTheResponse() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer(.sequence([.gate(gate), .raw("through")]))
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        await server.until { $0.requestCount == 1 }
        #expect(server.record.responses == 0)
        gate.open()
        #expect(client.text(upTo: "through") == "through")
    }

    @Test func serverRespondsWithoutReadingTheBody() async throws {
        let server = try LoopbackServer(readsBodies: false) { _ in .sequence([.response(413), .close]) }
        let client = try RawClient(port: server.port)
        client.send("POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n")
        #expect(client.text() == "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
    }

    private static let bodyWithInvalidFramingIsABadRequestArguments: [String] = [
        "Content-Length: -1", "Content-Length: +1", "Content-Length: two", "Content-Length: 99999999999999999999",
        "Content-Length: 9223372036854775807", "Transfer-Encoding: chunked\r\n\r\n-5",
        "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff", "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff",
        "Transfer-Encoding: chunked\r\n\r\n;x",
    ]

    @Test(arguments: Self.bodyWithInvalidFramingIsABadRequestArguments) func bodyWithInvalidFramingIsABadRequest(
        _ framing: String
    )
        throws
    {
        let server = try LoopbackServer(.response(200))
        let client = try RawClient(port: server.port)
        client.send("POST / HTTP/1.1\r\n\(framing)\r\n\r\n")
        #expect(client.text()?.hasPrefix("HTTP/1.1 400 Bad Request\r\n") == true)
        #expect(server.requests.isEmpty)
    }

    @Test func stalledSendIsRecorded() async throws {
        let server = try LoopbackServer(.endless(String(repeating: "x", count: 1 << 20)))
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(await server.until { $0.stalledSends == 1 })
        _ = client.text(upTo: "x")
    }

    @Test func stopEndsConnectionsAndWaiters() async throws {
        let server = try LoopbackServer(.stall)
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        await server.until { $0.requestCount == 1 }
        async let waited = server.until { $0.requestCount == 2 }
        server.stop()
        #expect(await !waited)
        #expect(client.text() == "")
        #expect(server.record.openConnections == 0)
        #expect(throws: NetworkError.self) { _ = try RawClient(port: server.port) }
    }

    @Test func serverStopsWithItsLastReference() async throws {
        var server: LoopbackServer? = try LoopbackServer(.stall)
        let client = try RawClient(port: try #require(server).port)
        await server?.until { $0.connections == 1 }
        server = nil
        #expect(client.text() == "")
    }

    @Test func cancelledTaskStopsWaiting() async throws {
        let server = try LoopbackServer(.stall)
        let waiting = Task { await server.until { $0.requestCount == 1 } }
        waiting.cancel()
        #expect(await !waiting.value)
    }
}
