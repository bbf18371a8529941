import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Servers that disconnect, stall or violate the protocol. A truncated response is never a success and never corrupts a
/// later response on the connection.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct BadServerTests {
    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"

    private static func cut(_ text: String) -> LoopbackServer.Response { .sequence([.raw(text), .close]) }
    private static func head(_ line: String) -> LoopbackServer.Response {
        .raw("\(ok)\(line)\r\nContent-Length: 2\r\n\r\nok")
    }

    static let truncations = [
        Case("close before any byte", .close, .failure([.network])),
        Case("reset before any byte", .reset, .failure([.network])),
        Case("close in the status line", cut("HTTP/1.1 2"), .failure([.network, .truncated, .protocol])),
        Case("close after the status line", cut(ok), .failure([.network, .truncated, .protocol])),
        Case("close in a field", cut(ok + "Content-Le"), .failure([.network, .truncated, .protocol])),
        Case("close before the empty line", cut(ok + "A: b\r\n"), .failure([.network, .truncated, .protocol])),
        Case(
            "close after an interim response",
            cut("HTTP/1.1 103 E\r\n\r\n"),
            .failure([.network, .truncated, .protocol])
        ),
        Case("close before the announced end", cut(ok + "Content-Length: 9\r\n\r\nhalf"), .failure([.truncated])),
        Case("close before the first body byte", cut(ok + "Content-Length: 9\r\n\r\n"), .failure([.truncated])),
        Case(
            "reset in the body",
            .sequence([.raw(ok + "Content-Length: 9\r\n\r\nhalf"), .reset]),
            .failure([.truncated, .network])
        ),
        Case(
            "reset in the head",
            .sequence([.raw(ok + "A: b"), .reset]),
            .failure([.network, .truncated, .protocol])
        ),
        Case(
            "reset before the first body byte",
            .sequence([.raw(ok + "Content-Length: 9\r\n\r\n"), .reset]),
            .failure([.truncated, .network])
        ),
        Case("close in a chunk's size", cut(chunked + "4\r\nhalf\r\n1"), .failure([.truncated, .network, .protocol])),
        Case(
            "close in the trailers",
            cut(chunked + "4\r\nhalf\r\n0\r\nA: b"),
            .either(200, [.truncated, .network])
        ),
        Case(
            "close before the end of a body that was encoded",
            cut(ok + "Content-Encoding: gzip\r\nContent-Length: 99\r\n\r\n\u{1F}"),
            .failure([.truncated, .network, .encoding])
        ),
        Case("no last chunk", cut(chunked + "4\r\nhalf\r\n"), .failure([.truncated, .network])),
        Case("half a chunk", cut(chunked + "9\r\nhalf"), .failure([.truncated, .network])),
        Case("no chunk at all", cut(chunked), .failure([.truncated, .network])),
        Case(
            "last chunk without its empty line",
            cut(chunked + "4\r\nfull\r\n0\r\n"),
            .either(200, [.truncated, .network])
        ),
        Case("1 GiB promised in a chunk", cut(chunked + "40000000\r\nhello"), .failure([.truncated, .network])),
        Case("a body that ends with the connection", cut(ok + "\r\nwhole"), .response(200, "whole")),
        Case("end of sending, still reading", .sequence([.response(200, [:], "ok"), .finish]), .response(200, "ok")),
    ]

    @Test(arguments: truncations) func truncationIsAnError(_ row: Case) async throws {
        try await row.run()
    }

    static let nonsense = [
        Case("a body without a head (HTTP/0.9)", cut("just text\n"), .failure([.protocol, .network])),
        Case("no reason phrase", .raw("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok"), .response(200, "ok")),
        Case(
            "lines that end with LF only",
            .raw("HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
            .either(200, [.protocol])
        ),
        Case("status of two digits", cut("HTTP/1.1 20 OK\r\n\r\n"), .failure([.protocol, .network])),
        Case("status 099", cut("HTTP/1.1 099 No\r\n\r\n"), .failure([.protocol, .network])),
        Case("status 999", .response(999, [:], "ok"), .response(999, "ok")),
        Case("HTTP/7.0", cut("HTTP/7.0 200 OK\r\n\r\n"), .failure([.protocol, .network])),
        Case(
            "101 unasked",
            .raw("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
            .failure([.protocol, .network])
        ),
        Case("chunk size ZZ", cut(chunked + "ZZ\r\nhello\r\n"), .failure([.protocol])),
        Case(
            "chunk size beyond 2^64",
            cut(chunked + "fffffffffffffffff\r\nhello\r\n"),
            .failure([.protocol])
        ),
        Case(
            "negative chunk size",
            cut(chunked + "-5\r\nhello\r\n0\r\n\r\n"),
            .failure([.protocol])
        ),
        Case(
            "endless chunk extension",
            .sequence([.raw(chunked + "5;"), .endless("x=y;")]),
            .failure([.protocol, .network, .tooLarge, .timeout]),
            options: TransferOptions(timeouts: TransferOptions.Timeouts(total: .seconds(1)))
        ),
        Case(
            "20,000 chunks of one byte",
            .chunked(Array(repeating: Data("x".utf8), count: 20_000)),
            .response(200, String(repeating: "x", count: 20_000))
        ),
        Case(
            "Content-Length beyond 2^64",
            cut(ok + "Content-Length: 99999999999999999999999\r\n\r\nx"),
            .failure([.protocol, .network, .truncated, .tooLarge])
        ),
        Case(
            "negative Content-Length",
            cut(ok + "Content-Length: -1\r\n\r\nx"),
            .failure([.protocol, .network, .truncated, .tooLarge])
        ),
        Case(
            "Content-Length that is no number",
            cut(ok + "Content-Length: two\r\n\r\nx"),
            .failure([.protocol, .network, .truncated])
        ),
        Case(
            "the same Content-Length twice",
            .raw(ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nok"),
            .either(200, [.protocol])
        ),
        Case(
            "two Content-Lengths",
            cut(ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!"),
            .failure([.protocol])
        ),
        Case(
            "Content-Length and chunks",
            .raw(chunked.replacing("\r\n\r\n", with: "\r\nContent-Length: 3\r\n\r\n") + "2\r\nok\r\n0\r\n\r\n"),
            .either(200, [.protocol])
        ),
        Case(
            "chunk size 0x5",
            cut(chunked + "0x5\r\nhello\r\n0\r\n\r\n"),
            .failure([.protocol, .network, .truncated, .other])
        ),
        Case("chunk without a size", cut(chunked + "\r\nhello"), .failure([.protocol])),
        Case(
            "chunk longer than its size",
            cut(chunked + "2\r\nhello\r\n0\r\n\r\n"),
            .failure([.protocol])
        ),
        Case("chunk lines that end with LF only", .raw(chunked + "2\nok\n0\n\n"), .either(200, [.protocol, .network])),
        Case(
            "Transfer-Encoding that nobody knows",
            cut(ok + "Transfer-Encoding: rot13\r\n\r\nbx"),
            .either(200, [.protocol, .network, .encoding, .unsupported])
        ),
        Case(
            "Content-Length of a list",
            .raw(ok + "Content-Length: 2, 2\r\n\r\nok"),
            .either(200, [.protocol, .network, .truncated])
        ),
        Case("Content-Length with a unit", cut(ok + "Content-Length: 2 bytes\r\n\r\nok"), .either(200, [.protocol])),
        Case("status of four digits", cut("HTTP/1.1 2000 OK\r\n\r\n"), .failure([.protocol, .network])),
        Case("status that is no number", cut("HTTP/1.1 abc OK\r\n\r\n"), .failure([.protocol, .network])),
        Case("another protocol's greeting", cut("SSH-2.0-OpenSSH_9.2\r\n"), .failure([.protocol, .network])),
        Case(
            "an empty line before the answer",
            .raw("\r\n\(ok)Content-Length: 2\r\n\r\nok"),
            .either(200, [.protocol, .network])
        ),
        Case("100 unasked", .sequence([.response(100), .response(200, [:], "ok")]), .response(200, "ok")),
        Case("304 unasked", .response(304), .response(304, "")),
        Case("407 without a proxy", .response(407, ["Proxy-Authenticate": "Basic realm=x"]), .response(407)),
        Case("300 with a choice", .response(300, ["Location": "/choice"], "choose"), .response(300, "choose")),
        Case("205 with a body", .response(205, [:], "body"), .either(205, [.protocol])),
        Case(
            "fields that only a head may have, in the trailers",
            .raw(chunked + "2\r\nok\r\n0\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n"),
            .response(200, "ok")
        ),
        Case("NUL in a value", head("X: a\u{0}b"), .failure([.protocol, .network])),
        Case("NUL in a name", head("X\u{0}Y: a"), .failure([.protocol, .network])),
        Case("carriage return in a value", head("X: a\rSet-Cookie: b"), .either(200, [.protocol])),
        Case("folded field", head("X: a\r\n b"), .either(200, [.protocol])),
        Case("folded first field", head(" folded: 1"), .failure([.protocol, .network])),
        Case(
            "folded first field after an interim response",
            .raw("HTTP/1.1 103 E\r\nA: b\r\n\r\n\(ok) folded: 1\r\nContent-Length: 2\r\n\r\nok"),
            .failure([.protocol, .network])
        ),
        Case("white space before the colon", head("X : a"), .either(200, [.protocol])),
        Case("a field without a colon", head("nothing"), .either(200, [.protocol])),
        Case("a field without a name", head(": a"), .either(200, [.protocol])),
        Case(
            "bytes that are no UTF-8",
            .raw(Data("\(ok)X: ".utf8) + [0xFF, 0xFE] + Data("\r\nContent-Length: 2\r\n\r\nok".utf8)),
            .response(200, "ok")
        ),
        Case("NUL in the body", .response(200, [:], "a\u{0}b"), .response(200, "a\u{0}b")),
        Case(
            "garbage in Content-Type",
            .response(200, ["Content-Type": "text/html; charset=\"x-unknown\\\"; garbage"], "ok"),
            .response(200, "ok")
        ),
        Case("206 unasked", .response(206, ["Content-Range": "bytes 0-1/9"], "ok"), .response(206, "ok")),
        Case("416", .response(416), .response(416)),
        Case("401 for ever", .response(401, ["WWW-Authenticate": "Basic realm=x"]), .response(401)),
        Case("Refresh is no redirect", .response(200, ["Refresh": "0; url=/x"], "ok"), .response(200, "ok")),
        Case(
            "Retry-After is not slept",
            .response(503, ["Retry-After": "999999999"], "later"),
            .response(503, "later")
        ),
    ]

    @Test(arguments: nonsense) func malformedResponseIsHandled(_ row: Case) async throws {
        try await row.run()
    }

    /// libcurl 7.88.1 frees memory twice in this case if the handle was used before.
    @Test func foldedFirstFieldOnAReusedConnectionIsAnError() async throws {
        let server = try LoopbackServer { request in
            request.target == "/good" ? .response(200) : .raw("\(Self.ok) folded: 1\r\nContent-Length: 0\r\n\r\n")
        }
        let transport = CurlTransport()
        for _ in 1...20 {
            _ = try await transport.perform(server.request(.get, "/good"))
            #expect(try await transport.failure(of: server.request(.get, "/bad")).kind == .protocol)
        }
    }

    @Test func foldedFieldIsJoined() async throws {
        let server = try LoopbackServer(Self.head("X-Folded: one\r\n\t two"))
        let response = try await CurlTransport().perform(server.request())
        let name = try #require(HTTPField.Name("X-Folded"))
        #expect(
            response.head.headerFields[name]?.split(whereSeparator: \.isWhitespace).joined(separator: " ") == "one two"
        )
    }

    struct Leftover: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: LoopbackServer.Response
        var method = HTTPRequest.Method.get
        var status = 200
    }

    private static let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"

    static let leftovers = [
        Leftover(testDescription: "a second response", answer: .sequence([.response(200), .raw(forged)])),
        Leftover(testDescription: "loose bytes", answer: .sequence([.response(200), .raw("x")])),
        Leftover(
            testDescription: "408 and FIN",
            answer: .sequence([.response(200), .raw("HTTP/1.1 408 Gone\r\nContent-Length: 0\r\n\r\n"), .close])
        ),
        Leftover(testDescription: "FIN", answer: .sequence([.response(200), .close])),
        Leftover(testDescription: "204 with a body", answer: .raw("HTTP/1.1 204 N\r\n\r\n" + forged), status: 204),
        Leftover(testDescription: "304 with a body", answer: .raw("HTTP/1.1 304 N\r\n\r\n" + forged), status: 304),
        Leftover(
            testDescription: "HEAD with a body",
            answer: .raw("HTTP/1.1 200 OK\r\nContent-Length: \(forged.utf8.count)\r\n\r\n" + forged),
            method: .head
        ),
        Leftover(
            testDescription: "204 with a body and its length",
            answer: .raw("HTTP/1.1 204 N\r\nContent-Length: \(forged.utf8.count)\r\n\r\n" + forged),
            status: 204
        ),
    ]

    /// Bytes after a response are never taken for the next response, not even for a POST, which is sent only once.
    @Test(arguments: leftovers, [.get, .post] as [HTTPRequest.Method])
    func bytesAfterAResponseAreNotTakenForTheNextResponse(_ leftover: Leftover, _ next: HTTPRequest.Method) async throws
    {
        let server = try LoopbackServer { request in
            request.target == "/first" ? leftover.answer : .response(200, [:], "second")
        }
        let transport = CurlTransport()
        let first = try await transport.perform(server.request(leftover.method, "/first"))
        #expect(first.head.status.code == leftover.status)
        #expect(try await first.text() == "")
        await server.until { $0.responses == 1 || $0.openConnections == 0 }
        let second = try await transport.perform(
            server.request(next, "/second", body: next == .post ? .init("x") : nil)
        )
        #expect(second.head.status.code == 200)
        #expect(try await second.text() == "second")
        #expect(server.requests.count { $0.target == "/second" } == 1)
    }
}
