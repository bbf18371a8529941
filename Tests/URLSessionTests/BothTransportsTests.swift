import BeagleNet
import BeagleNetCurl
import BeagleNetTesting
import BeagleNetURLSession
import Foundation
import Testing

/// The common behavior of all transports. A row says so if `URLSession` on Linux differs.
@Suite(.timeLimit(.minutes(5))) struct BothTransportsTests {
    enum Engine: String, CaseIterable {
        case curl, session

        func transport() -> any HTTPTransport {
            switch self {
            case .curl: CurlTransport()
            case .session: URLSessionTransport()
            }
        }
    }

    enum Expected: Sendable {
        case response(Int, String)
        case failure([NetworkError.Kind])
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: LoopbackServer.Response
        let expected: Expected
        var method = HTTPRequest.Method.get
        /// The expected result of `URLSession`, if it differs.
        var ofSession: Expected?
        /// Whether the row would crash the process with `FoundationNetworking`.
        var isForCurlAlone = false

        init(
            _ name: String,
            _ answer: LoopbackServer.Response,
            _ expected: Expected,
            method: HTTPRequest.Method = .get,
            ofSession: Expected? = nil,
            isForCurlAlone: Bool = false
        ) {
            testDescription = name
            self.answer = answer
            self.expected = expected
            self.method = method
            self.ofSession = ofSession
            self.isForCurlAlone = isForCurlAlone
        }
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
    private static func cut(_ text: String) -> LoopbackServer.Response { .sequence([.raw(text), .close]) }
    private static func refusal(_ challenge: String) -> LoopbackServer.Response {
        .response(401, ["WWW-Authenticate": challenge], "no")
    }

    static let rows: [Row] = [
        Row("200", .response(200, [:], "ok"), .response(200, "ok")),
        Row("204", .response(204), .response(204, "")),
        Row("304 unasked", .response(304), .response(304, "")),
        Row("404", .response(404, [:], "none"), .response(404, "none")),
        Row("500", .response(500, [:], "broken"), .response(500, "broken")),
        Row("503 with Retry-After", .response(503, ["Retry-After": "99999"], "later"), .response(503, "later")),
        Row("407 without a proxy", .response(407, ["Proxy-Authenticate": "Basic realm=x"], "no"), .response(407, "no")),
        Row("401 without a challenge", .response(401, [:], "no"), .response(401, "no")),
        Row("401 Basic", refusal("Basic realm=\"x\""), .response(401, "no")),
        Row("401 Basic, unquoted", refusal("Basic realm=x"), .response(401, "no")),
        Row("401 Basic without a realm", refusal("Basic"), .response(401, "no")),
        Row("401 basic in lower case", refusal("basic realm=\"x\""), .response(401, "no")),
        Row("401 Bearer", refusal("Bearer"), .response(401, "no")),
        Row("401 Bearer with a realm", refusal("Bearer realm=\"x\", error=\"invalid_token\""), .response(401, "no")),
        Row("401 Digest", refusal("Digest realm=\"x\", nonce=\"n\""), .response(401, "no")),
        Row("401 Negotiate", refusal("Negotiate"), .response(401, "no")),
        Row("401 Basic or Digest", refusal("Basic realm=\"x\", Digest realm=\"x\", nonce=\"n\""), .response(401, "no")),
        Row("401 Basic to a POST", refusal("Basic realm=\"x\""), .response(401, "no"), method: .post),
        Row("401 Basic without a body", .response(401, ["WWW-Authenticate": "Basic realm=\"x\""]), .response(401, "")),
        Row("HEAD", .response(200, [:], "body"), .response(200, ""), method: .head),
        Row("a body of chunks", .chunked(["wh", "ole"].map { Data($0.utf8) }), .response(200, "whole")),
        Row("a body that ends with the connection", cut(ok + "\r\nwhole"), .response(200, "whole")),
        Row("a redirect without a Location", .response(302), .response(302, "")),
        Row("300 with a choice", .response(300, ["Location": "/choice"], "choose"), .response(300, "choose")),
        Row("close before any byte", .close, .failure([.network])),
        Row("close before any byte of a POST's answer", .close, .failure([.network]), method: .post),
        Row("reset before any byte", .reset, .failure([.network])),
        Row("close in the status line", cut("HTTP/1.1 2"), .failure([.network, .truncated, .protocol])),
        Row(
            "close after the status line",
            cut(ok),
            .failure([.network, .truncated, .protocol]),
            isForCurlAlone: true
        ),
        Row("another protocol's greeting", cut("SSH-2.0-OpenSSH_9.2\r\n"), .failure([.protocol])),
        Row("a body without a head", cut("just text\n"), .failure([.protocol, .network])),
        Row("close before the announced end", cut(ok + "Content-Length: 9\r\n\r\nhalf"), .failure([.truncated])),
        Row(
            "reset in the body",
            .sequence([.raw(ok + "Content-Length: 9\r\n\r\nhalf"), .reset]),
            .failure([.truncated, .network])
        ),
        Row("no last chunk", cut(chunked + "4\r\nhalf\r\n"), .failure([.truncated, .network])),
        Row("a chunk size that is no number", cut(chunked + "ZZ\r\nhalf\r\n"), .failure([.protocol, .truncated])),
        Row(
            "a damaged coded body",
            .response(200, ["Content-Encoding": "gzip"], "half"),
            .failure([.encoding])
        ),
        Row(
            "a redirect whose body breaks off",
            cut("HTTP/1.1 302 F\r\nLocation: /there\r\nContent-Length: 9\r\n\r\nmo"),
            .response(200, "there"),
            ofSession: .failure([.network, .truncated, .other])
        ),
    ]

    @Test(arguments: rows, Engine.allCases) func bothTransportsReturnTheSameResult(_ row: Row, over engine: Engine)
        async throws
    {
        #if canImport(FoundationNetworking)
            if row.isForCurlAlone, engine == .session { return }
        #endif
        let server = try LoopbackServer { request in
            request.target == "/there" ? .response(200, [:], "there") : row.answer
        }
        let url = try #require(URL(string: server.url))
        let body = row.method == .post ? HTTPBody("text") : nil
        var options = TransferOptions()
        options.timeouts.total = .seconds(20)
        let request = TransferRequest(HTTPRequest(method: row.method, url: url), body: body, options: options)
        let expected = engine == .session ? row.ofSession ?? row.expected : row.expected
        do throws(NetworkError) {
            let response = try await engine.transport().perform(request)
            let text = String(decoding: try await response.body.collect(), as: UTF8.self)
            guard case .response(let status, let body) = expected else {
                Issue.record("expected an error, but got a response: \(response.status)")
                return
            }
            #expect(response.status.code == status)
            #expect(text == body)
        } catch {
            guard case .failure(let kinds) = expected else {
                Issue.record(error)
                return
            }
            #expect(kinds.contains(error.kind), "\(error)")
            #expect(error.mayHaveReachedServer)
        }
    }

    /// The retry interceptor works with both transports.
    @Test(arguments: Engine.allCases) func lostConnectionIsRetried(_ engine: Engine) async throws {
        let count = Lock(0)
        let server = try LoopbackServer { _ in
            count.withLock { $0 += 1 }
            return count.withLock { $0 } < 3 ? .close : .response(200, [:], "there")
        }
        let dependencies = BeagleDependencies()
        dependencies.interceptors = [RetryInterceptor(backoff: Backoff(base: .zero, limit: 3))]
        let client = NetworkClientDefault(dependencies: dependencies, transport: engine.transport())
        let request = Request(url: try #require(URL(string: server.url)), type: .fetchComponent)
        #expect(try await client.executeRequest(request).data == Data("there".utf8))
    }
}
