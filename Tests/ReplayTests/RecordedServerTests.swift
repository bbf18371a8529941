import BeagleNetCurl
import BeagleNetTesting
import CurlPeers
import Foundation
import TestPrograms
import Testing

@testable import BeagleNetReplay

/// A real client that sends requests over real sockets to a recorded server.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct RecordedServerTests {
    private let transport = CurlTransport()

    private func head(
        _ server: RecordedServer,
        _ target: String,
        _ method: String = "GET",
        scheme: String = "http"
    ) -> HTTPRequest {
        let authority = String(server.url.dropFirst("http://".count))
        return HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get,
            scheme: scheme,
            authority: authority,
            path: target
        )
    }

    private func ask(
        _ server: RecordedServer,
        _ target: String,
        _ method: String = "GET",
        _ fields: HTTPFields = [:],
        _ change: (inout TransferRequest) -> Void = { _ in }
    ) async throws(NetworkError) -> TransferResponse {
        var head = head(server, target, method)
        head.headerFields = fields
        var request = TransferRequest(head)
        request.options.redirects = .manual
        change(&request)
        return try await transport.perform(request)
    }

    /// The bytes on the wire, as the curl tool receives them.
    private func wire(_ server: RecordedServer, _ target: String, _ arguments: String...) async throws -> Data {
        let options = ["--silent", "--raw", "--include", "--max-time", "20"]
        return try await Program.run("curl", options + arguments + [server.url + target]).output
    }

    @Test func recordedStatusFieldsAndBodyAreSent() async throws {
        let cookies = [LogEntry.Field("Set-Cookie", "a=1; Path=/"), LogEntry.Field("Set-Cookie", "b=2")]
        let server = try RecordedServer(
            Recording([
                Exchanges.entry("GET", "/a?x=1&y=2", status: 203, answer: "hello", answerFields: cookies),
                Exchanges.entry("POST", "/form", body: Exchanges.json(#"{"a":1,"b":2}"#), status: 422, answer: "no"),
            ])
        )
        let answer = try await ask(server, "/a?y=2&x=1")
        #expect(answer.head.status.code == 203)
        #expect(answer.body.data == Data("hello".utf8))
        #expect(answer.head.headerFields[values: .setCookie] == ["a=1; Path=/", "b=2"])
        #expect(answer.head.headerFields[.contentLength] == "5")
        #expect(server.unused.count == 1)
        #expect(throws: NetworkError.self) { try server.assertAllUsed() }
        let form = try await ask(server, "/form", "POST", [.contentType: "application/json"]) {
            $0.body = HTTPBody(#"{"b":2, "a":1.0}"#)
        }
        #expect(form.head.status.code == 422)
        try server.assertAllUsed()
        #expect(server.requests.map(\.method) == ["GET", "POST"])
    }

    @Test func missIsReportedWithTheNearestEntry() async throws {
        let server = try RecordedServer(Recording([Exchanges.entry("GET", "/a?page=1", answer: "x")]))
        let answer = try await ask(server, "/a?page=2")
        #expect(answer.head.status.code == 501)
        let text = String(decoding: answer.body.data ?? Data(), as: UTF8.self)
        #expect(text.contains("query page: 1 → 2"), "\(text)")
        let socket = try await ask(server, "/a", "GET", Self.upgrade)
        #expect(socket.head.status.code == 501)
        // The connection stays usable.
        #expect(try await ask(server, "/a?page=1").body.data == Data("x".utf8))
        #expect(server.requests.map(\.connection) == [1, 1, 1])
    }

    private static let upgrade: HTTPFields = {
        var fields = HTTPFields()
        for (name, value) in [("Upgrade", "websocket"), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")] {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }()

    @Test func bodylessResponsesAreSentWithoutABody() async throws {
        var head = Exchanges.entry("HEAD", "/a", answerFields: [LogEntry.Field("Content-Length", "1234")])
        head.response?.body = LogEntry.Body(.omitted("unknown"))
        let server = try RecordedServer(
            Recording([
                head,
                Exchanges.entry("GET", "/none", status: 204, answerFields: [LogEntry.Field("Content-Length", "0")]),
                Exchanges.entry("GET", "/same", status: 304, answerFields: [LogEntry.Field("ETag", "\"1\"")]),
                Exchanges.entry("GET", "/last", answer: "there"),
            ])
        )
        let heads = try await ask(server, "/a", "HEAD")
        #expect(heads.head.headerFields[.contentLength] == "1234")
        let none = try await ask(server, "/none")
        #expect(none.head.status.code == 204 && none.head.headerFields[.contentLength] == nil)
        #expect(try await ask(server, "/same").head.headerFields[.eTag] == "\"1\"")
        // All on one connection: an extra body would break its framing.
        #expect(try await ask(server, "/last").body.data == Data("there".utf8))
        #expect(Set(server.requests.map(\.connection)) == [1])
    }

    @Test(arguments: ["gzip", "deflate", "br"]) func bodyIsEncodedIfTheClientAcceptsIt(_ coding: String) async throws {
        let text = String(repeating: "the same words ", count: 1_000)
        let fields = [LogEntry.Field("Content-Encoding", coding), LogEntry.Field("Content-Length", "99")]
        let server = try RecordedServer(Recording([Exchanges.entry("GET", "/a", answer: text, answerFields: fields)]))
        let answer = try await ask(server, "/a")
        #expect(answer.body.data == Data(text.utf8))
        let coded = try await wire(server, "/a", "-H", "Accept-Encoding: \(coding)")
        #expect((coded.count < 1_000) == (coding != "br"), "brotli is sent decoded")
        let refused = try await wire(server, "/a", "-H", "Accept-Encoding: \(coding);q=0")
        let plain = String(decoding: refused, as: UTF8.self)
        #expect(plain.contains("Content-Length: \(text.utf8.count)\r\n") && plain.hasSuffix(text))
        #expect(!plain.contains("Content-Encoding"))
    }

    @Test func recordedChunkingInterimResponsesAndTrailersAreSent() async throws {
        var entry = Exchanges.entry(
            "GET",
            "/a",
            answer: "hello",
            answerFields: [LogEntry.Field("Transfer-Encoding", "chunked"), LogEntry.Field("Connection", "keep-alive")]
        )
        entry.response?.interim = [LogEntry.Head(status: 103, fields: [LogEntry.Field("Link", "</a.css>")])]
        entry.response?.trailers = [LogEntry.Field("Digest", "x")]
        let server = try RecordedServer(Recording([entry]))
        let text = String(decoding: try await wire(server, "/a"), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 103 \r\nLink: </a.css>\r\n\r\nHTTP/1.1 200"), "\(text)")
        #expect(text.hasSuffix("\r\n\r\n5\r\nhello\r\n0\r\nDigest: x\r\n\r\n"))
        #expect(!text.contains("keep-alive"))
        let old = String(decoding: try await wire(server, "/a", "--http1.0"), as: UTF8.self)
        #expect(old.hasSuffix("\r\n\r\nhello") && !old.contains("chunked"))
    }

    @Test func redirectsPointToThisServer() async throws {
        let server = try RecordedServer(
            Recording([
                Exchanges.entry(
                    "GET",
                    "/old",
                    status: 302,
                    answerFields: [LogEntry.Field("Location", "\(Exchanges.base)/new?a")]
                ),
                Exchanges.entry("GET", "/new?a", answer: "new"),
                Exchanges.entry(
                    "GET",
                    "/out",
                    status: 302,
                    answerFields: [LogEntry.Field("Location", "https://x.example/")]
                ),
            ])
        )
        let answer = try await ask(server, "/old") { $0.options.redirects = .follow }
        #expect(answer.body.data == Data("new".utf8))
        #expect(server.requests.map(\.target) == ["/old", "/new?a"])
        #expect(try await ask(server, "/out").head.headerFields[.location] == "https://x.example/")
    }

    @Test func recordedFailuresAreReproduced() async throws {
        var (lost, cut, silent) = (
            Exchanges.entry("GET", "/lost"), Exchanges.entry("GET", "/cut", answer: "half"),
            Exchanges.entry("GET", "/silent")
        )
        (lost.response, lost.error) = (nil, "network: reset")
        (silent.response, silent.error) = (nil, "timeout")
        cut.error = "truncated: the connection ended"
        let server = try RecordedServer(Recording([lost, cut, silent]))
        for (target, kind) in [("/lost", NetworkError.Kind.network), ("/cut", .truncated), ("/silent", .timeout)] {
            let error = await #expect(throws: NetworkError.self) {
                try await ask(server, target) { $0.options.timeouts.total = .seconds(target == "/silent" ? 0.2 : 20) }
            }
            #expect(error?.kind == kind, "\(target): \(String(describing: error))")
        }
    }

    @Test func eventsAreSentOneByOneWithRecordedTiming() async throws {
        var entry = Exchanges.entry("GET", "/events", type: "text/event-stream")
        entry.messages = (0..<3).map { number in
            LogEntry.Message(
                .receive,
                at: Date(timeIntervalSince1970: Double(number) * 10),
                Data("data: \(number)".utf8)
            )
        }
        let clock = ManualClock()
        let server = try RecordedServer(Recording([entry]), timing: .recorded(), clock: clock)
        let answer = try await ask(server, "/events") { $0.delivery = .stream }
        var chunks = answer.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("data: 0\n\n".utf8))
        for number in 1...2 {
            await clock.waitForSleepers(1)
            #expect(clock.nextWait == .seconds(10))
            clock.advance(by: .seconds(10))
            #expect(try await chunks.next() == Data("data: \(number)\n\n".utf8))
        }
        #expect(try await chunks.next() == nil)
    }

    @Test func recordedWebSocketMessagesAreSent() async throws {
        var entry = Exchanges.entry("GET", "/talk", status: 101)
        entry.request.url = "wss://api.example.com/talk"
        let long = String(repeating: "x", count: 70_000)
        entry.messages = [
            LogEntry.Message(.receive, at: entry.started, Data("welcome".utf8)),
            LogEntry.Message(.send, at: entry.started, Data("anything".utf8)),
            LogEntry.Message(.receive, at: entry.started, opcode: 2, Data([0, 255])),
            LogEntry.Message(.receive, at: entry.started, Data(long.utf8)),
            LogEntry.Message(.receive, at: entry.started, opcode: 8, Data("1001 going away".utf8)),
        ]
        let server = try RecordedServer(Recording([entry]))
        let socket = try await transport.openWebSocket(WebSocket.Request(head(server, "/talk", scheme: "ws")))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("welcome"))
        try await socket.send(.text("else"))
        #expect(try await messages.next() == .binary(Data([0, 255])))
        #expect(try await messages.next() == .text(long))
        #expect(try await messages.next() == nil)
        #expect(socket.peerClose == WebSocket.Close(.goingAway, reason: "going away"))
        try server.assertAllUsed()
    }

    @Test func serverStopsDuringAPendingResponse() async throws {
        let clock = ManualClock()
        let server = try RecordedServer(
            Recording([Exchanges.entry("GET", "/a", answer: "x")]),
            timing: .fixed(.seconds(1_000)),
            clock: clock
        )
        let task = Task { try await ask(server, "/a") }
        await clock.waitForSleepers(1)
        server.stop()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.kind == .network)
    }
}
