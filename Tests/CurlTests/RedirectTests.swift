import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Redirects: their targets, and the fields and bodies that they keep or drop.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct RedirectTests {
    let transport = CurlTransport()

    private func redirecting(_ status: Int, to location: String) throws -> LoopbackServer {
        try LoopbackServer { request in
            request.target.hasPrefix("/from")
                ? .response(status, ["Location": location], "moved") : .response(200, [:], "\(request.target)")
        }
    }

    @Test func redirectIsLimitedToTheAllowedHosts() async throws {
        let other = try LoopbackServer(.response(200, [:], "elsewhere"))
        let server = try redirecting(302, to: "http://localhost:\(other.port)/to")
        var request = try server.request(.get, "/from")
        request.allowedHosts = ["127.0.0.1"]
        let error = await #expect(throws: NetworkError.self) { try await transport.perform(request) }
        #expect(error?.kind == .badURL)
        #expect(error?.phase == .redirect)
        #expect(other.requests.isEmpty)
        request.allowedHosts = ["127.0.0.1", "localhost"]
        #expect(try await transport.perform(request).text() == "elsewhere")
    }

    private static let repeatedLocationIsAcceptedOnlyIfIdenticalArguments: [([String], String?)] = [
        (["/one", "/one"], "/one"), (["/one, /one"], "/one,%20/one"), (["/one", "/two"], nil),
        (["/one", "/one", "/two"], nil),
    ]

    @Test(arguments: Self.repeatedLocationIsAcceptedOnlyIfIdenticalArguments)
    func repeatedLocationIsAcceptedOnlyIfIdentical(_ locations: [String], _ target: String?) async throws {
        let lines = locations.map { "Location: \($0)\r\n" }.joined()
        let server = try LoopbackServer { request in
            request.target == "/from"
                ? .raw("HTTP/1.1 302 Found\r\n\(lines)Content-Length: 0\r\n\r\n") : .response(200, [:], request.target)
        }
        let request = try server.request(.get, "/from")
        if let target {
            #expect(try await transport.perform(request).text() == target)
        } else {
            let error = try await transport.failure(of: request)
            #expect(error.kind == .protocol && error.phase == .redirect)
            #expect(server.requests.count == 1)
        }
    }

    /// The bytes are opaque (RFC 9110, 5.5).
    @Test func bytesOfALocationAreRequestedUnchanged() async throws {
        let location = Array("/caf".utf8) + [0xE9] + Array("?q=".utf8) + [0xFC] + Array("&r=%E9".utf8)
        let server = try LoopbackServer { request in
            request.target == "/from"
                ? .raw(
                    Data("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ".utf8) + location
                        + Data("\r\n\r\n".utf8)
                )
                : .response(200, [:], request.target)
        }
        let response = try await transport.perform(server.request(.get, "/from"))
        // Resolving the URL may encode an existing percent sign.
        #expect(try await response.text().hasPrefix("/caf%E9?q=%FC&r=%"))
    }

    @Test func customHostFieldIsDropped() async throws {
        let other = try LoopbackServer { .response(200, [:], $0["Host"] ?? "") }
        let server = try redirecting(302, to: "\(other.url)/to")
        var request = try server.request(.get, "/from")
        request.head.headerFields[try #require(HTTPField.Name("Host"))] = "custom.example"
        #expect(try await transport.perform(request).text() == other.authority)
    }

    struct Rewrite: Sendable, CustomTestStringConvertible {
        let status: Int
        let method: HTTPRequest.Method
        let body: HTTPBody?
        var testDescription: String { "\(status) \(method)\(body == nil ? " without a body" : "")" }

        /// RFC 9110, 15.4: 303 becomes GET, 301 and 302 become GET after a POST, 307 and 308 never do.
        var becomesGet: Bool { status == 303 || (status < 303 && method == .post) }
    }

    static let rewrites: [Rewrite] = [301, 302, 303, 307, 308].flatMap { status in
        [HTTPRequest.Method.post, .put, .patch, .delete].flatMap { method in
            [HTTPBody("text"), nil].map { Rewrite(status: status, method: method, body: $0) }
        }
    }

    @Test(arguments: rewrites, [false, true])
    func methodAndBodyDependOnTheStatus(_ rewrite: Rewrite, toAnotherOrigin: Bool) async throws {
        let other = try LoopbackServer(.response(200))
        let server = try redirecting(rewrite.status, to: toAnotherOrigin ? "\(other.url)/to" : "/to")
        let type: KeyValuePairs = ["Content-Type": "text/plain", "X-Kept": "1"]
        let fields: KeyValuePairs = rewrite.body == nil ? ["X-Kept": "1"] : type
        let response = try await transport.perform(server.request(rewrite.method, "/from", fields, body: rewrite.body))

        #expect(response.head.status.code == 200)
        #expect(response.metrics.redirects == 1)
        let last = try #require((toAnotherOrigin ? other : server).requests.last)
        #expect(last.target == "/to")
        #expect(last.method == (rewrite.becomesGet ? "GET" : rewrite.method.rawValue))
        let keepsBody = rewrite.body != nil && !rewrite.becomesGet
        #expect(last.body == Data((keepsBody ? "text" : "").utf8))
        #expect((last["Content-Type"] != nil) == keepsBody)
        let isEmpty = rewrite.body == nil && !rewrite.becomesGet && rewrite.method != .delete
        #expect(last["Content-Length"] == (keepsBody ? "4" : isEmpty ? "0" : nil))
        #expect(last["X-Kept"] == "1")
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func getAndHeadKeepTheirMethod(_ status: Int) async throws {
        let server = try redirecting(status, to: "/to")
        _ = try await transport.perform(server.request(.get, "/from"))
        _ = try await transport.perform(server.request(.head, "/from"))
        #expect(server.requests.map(\.method) == ["GET", "GET", "HEAD", "HEAD"])
    }

    static let credentials: KeyValuePairs = [
        "Authorization": "Bearer secret", "Cookie": "id=secret", "X-Api-Key": "secret",
        "Proxy-Authorization": "Basic secret", "X-Tenant": "secret", "X-Open": "open",
    ]

    @Test func credentialsAndScopedFieldsStayWithTheirOrigin() async throws {
        let other = try LoopbackServer(.response(200))
        let server = try redirecting(307, to: "\(other.url)/to")
        let scoped = try #require(HTTPField.Name("x-tenant"))
        let request = try server.request(.post, "/from", Self.credentials, body: HTTPBody("x"), scoped: [scoped])
        _ = try await transport.perform(request)
        let last = try #require(other.requests.last)
        #expect(!String(decoding: last.raw, as: UTF8.self).contains("secret"))
        #expect(last["X-Open"] == "open")
        #expect(last["Host"] == other.authority)
    }

    @Test func redirectBackDoesNotRestoreCredentials() async throws {
        let target = Lock("")
        let other = try LoopbackServer { _ in .response(302, ["Location": target.withLock { $0 }]) }
        let server = try redirecting(302, to: "\(other.url)/on")
        target.withLock { $0 = "\(server.url)/to" }
        _ = try await transport.perform(server.request(.get, "/from", Self.credentials))
        #expect(server.requests.last?.target == "/to")
        #expect(server.requests.last?["Authorization"] == nil)
    }

    @Test func credentialsAreSentToTheSameOrigin() async throws {
        let server = try redirecting(302, to: "/to")
        let scoped = try #require(HTTPField.Name("X-Tenant"))
        _ = try await transport.perform(server.request(.get, "/from", Self.credentials, scoped: [scoped]))
        let last = try #require(server.requests.last)
        #expect(Self.credentials.allSatisfy { last[$0.key] == $0.value })
    }

    struct Reference: Sendable, CustomTestStringConvertible {
        let location: String
        let target: String
        var testDescription: String { location }
    }

    /// References to resolve against `/from/a/b?c=d` (RFC 3986, 5.4).
    static let references: [Reference] = [
        .init(location: "../x", target: "/from/x?"),
        .init(location: "x", target: "/from/a/x?"),
        .init(location: "./x/", target: "/from/a/x/?"),
        .init(location: "?query", target: "/from/a/b?query"),
        .init(location: "?q=1&r=%20", target: "/from/a/b?q=1&r=%20"),
        .init(location: "/x?y=z#part", target: "/x?y=z"),
        .init(location: "#part", target: "/from/a/b?c=d"),
        .init(location: "../../../../x", target: "/x?"),
        .init(location: "/x//y", target: "/x//y?"),
    ]

    @Test(arguments: references) func relativeLocationIsResolved(_ reference: Reference) async throws {
        let first = Lock(true)
        let server = try LoopbackServer { _ in
            let isFirst = first.withLock { first in
                defer { first = false }
                return first
            }
            return isFirst ? .response(302, ["Location": reference.location]) : .response(200)
        }
        let response = try await transport.perform(server.request(.get, "/from/a/b?c=d"))
        let target = reference.target.hasSuffix("?") ? String(reference.target.dropLast()) : reference.target
        #expect(server.requests.last?.target == target)
        #expect(response.url == server.url + target)
    }

    private static let escapesInALocationAreKeptArguments: [(String, String)] = [
        (
            "/auth?redirect_uri=https%3A%2F%2Fapp&scope=openid email",
            "/auth?redirect_uri=https%3A%2F%2Fapp&scope=openid%20email"
        ),
        ("/x?a=b|c&sig=%3D%3D", "/x?a=b%7Cc&sig=%3D%3D"), ("/caf%C3%A9 x", "/caf%C3%A9%20x"),
        ("/s?d=100%&n=caf%C3%A9", "/s?d=100%25&n=caf%C3%A9"), ("/caf%C3%A9/é", "/caf%C3%A9/%C3%A9"),
        ("/a%2Fb", "/a%2Fb"),
    ]

    /// Escapes are kept, and only invalid characters are encoded (RFC 3986, 2.1 and 2.4).
    @Test(arguments: Self.escapesInALocationAreKeptArguments) func escapesInALocationAreKept(
        _ location: String,
        _ target: String
    ) async throws {
        let server = try redirecting(302, to: location)
        let response = try await transport.perform(server.request(.get, "/from"))
        #expect(server.requests.last?.target == target)
        #expect(response.url == server.url + target)
    }

    /// An empty reference is the URL itself (RFC 3986, 5.2.2). Servers send it so that the client retries with a
    /// cookie.
    @Test func emptyLocationLeadsToTheSameURL() async throws {
        let requests = Lock(0)
        let server = try LoopbackServer { _ in
            let count = requests.withLock { count in
                count += 1
                return count
            }
            return count == 1 ? .response(302, ["Location": ""], "again") : .response(200, [:], "there")
        }
        let response = try await transport.perform(server.request(.post, "/from?a=%2F", body: HTTPBody("x")))
        #expect(try await response.text() == "there")
        #expect(server.requests.map(\.method) == ["POST", "GET"])
        #expect(server.requests.map(\.target) == ["/from?a=%2F", "/from?a=%2F"])
    }

    @Test func endlessEmptyLocationEndsAtTheLimit() async throws {
        let server = try LoopbackServer(.response(302, ["Location": ""]))
        let request = try server.request(.get, "/from", options: TransferOptions(redirects: .init(limit: 2)))
        #expect(try await transport.failure(of: request).kind == .tooManyRedirects)
        #expect(server.record.requestCount == 3)
    }

    @Test func internationalHostIsConvertedToASCII() async throws {
        let server = try redirecting(302, to: "http://bücher.test/to")
        var request = try server.request(.get, "/from")
        request.allowedHosts = ["127.0.0.1"]
        let error = try await transport.failure(of: request)
        #expect(error.message.contains("xn--bcher-kva.test"), "\(error)")
        request.allowedHosts = ["127.0.0.1", "bücher.test"]
        request.options.overrides = [
            TransferOptions.HostOverride(
                host: "xn--bcher-kva.test",
                address: "127.0.0.1",
                addressPort: Int(server.port)
            )
        ]
        #expect(try await transport.perform(request).text() == "/to")
        #expect(server.requests.last?["Host"] == "xn--bcher-kva.test")
    }

    @Test func locationWithoutPathLeadsToTheRoot() async throws {
        let other = try LoopbackServer(.response(200))
        let server = try redirecting(302, to: other.url)
        _ = try await transport.perform(server.request(.get, "/from"))
        #expect(other.requests.map(\.target) == ["/"])
    }

    private static let invalidLocationIsRejectedArguments: [(String, NetworkError.Kind)] = [
        ("gopher://127.0.0.1/x", NetworkError.Kind.unsupportedScheme), ("file:///etc/passwd", .unsupportedScheme),
        ("ftp://127.0.0.1/", .unsupportedScheme), ("javascript:alert(1)", .unsupportedScheme),
        ("http://", .badURL), ("http:///x", .badURL), ("http://user:word@127.0.0.1/", .badURL),
        ("http://127.0.0.1:99999/", .badURL),
    ]

    @Test(arguments: Self.invalidLocationIsRejectedArguments) func invalidLocationIsRejected(
        _ location: String,
        _ kind: NetworkError.Kind
    ) async throws {
        let server = try redirecting(302, to: location)
        let error = try await transport.failure(of: server.request(.get, "/from"))
        #expect(error.kind == kind, "\(error)")
        #expect(error.response?.status.code == 302)
        #expect(server.record.requestCount == 1)
        try await transport.proveHealth()
    }

    /// Dot segments are removed from any reference, including absolute URLs (RFC 3986, 5.2.4).
    @Test(arguments: ["http://HOST/a/../b/./c", "//HOST/a/../b/./c", "/a/../b/./c", "../b/c?x=/../y", "http://HOST/.."])
    func dotSegmentsOfALocationAreResolved(_ location: String) async throws {
        let authority = Lock("")
        let server = try LoopbackServer { request in
            let location = location.replacing("HOST", with: authority.withLock { $0 })
            return request.target == "/from/here"
                ? .response(302, ["Location": location]) : .response(200, [:], request.target)
        }
        authority.withLock { $0 = server.authority }
        let target = try await transport.perform(server.request(.get, "/from/here")).text()
        #expect(target == (location.hasSuffix("/..") ? "/" : location.hasSuffix("y") ? "/b/c?x=/../y" : "/b/c"))
    }

    @Test func locationOf90KiBIsFollowedOrRejected() async throws {
        let server = try redirecting(302, to: "/" + String(repeating: "a", count: 90 << 10))
        let request = try server.request(.get, "/from", options: .limited)
        do throws(NetworkError) {
            let response = try await transport.perform(request)
            #expect(response.head.status.code == 200)
        } catch {
            #expect([.badURL, .protocol, .tooLarge].contains(error.kind), "\(error)")
        }
        #expect(server.record.requestCount <= 2)
        try await transport.proveHealth()
    }

    @Test func redirectLoopEndsAtTheLimit() async throws {
        let server = try redirecting(302, to: "/from")
        let error = try await transport.failure(of: server.request(.get, "/from"))
        #expect(error.kind == .tooManyRedirects)
        #expect(server.record.requestCount == 11)
        #expect(server.record.connections == 1)
    }

    @Test func redirectsUpToTheLimitAreFollowed() async throws {
        let server = try LoopbackServer { request in
            let hops = Int(request.target.dropFirst()) ?? 0
            return hops == 0 ? .response(200, [:], "there") : .response(302, ["Location": "/\(hops - 1)"])
        }
        let response = try await transport.perform(server.request(.get, "/10"))
        #expect(try await response.text() == "there")
        #expect(response.metrics.redirects == 10)
        #expect(try await transport.failure(of: server.request(.get, "/11")).kind == .tooManyRedirects)
    }

    @Test func manualPolicyReturnsTheRedirect() async throws {
        let server = try redirecting(302, to: "/to")
        let options = TransferOptions(redirects: .manual)
        let response = try await transport.perform(server.request(.get, "/from", options: options))
        #expect(response.head.status.code == 302)
        #expect(response.head.headerFields[.location] == "/to")
        #expect(try await response.text() == "moved")
        #expect(server.record.requestCount == 1)
    }

    @Test(arguments: [300, 304, 305, 306]) func otherRedirectStatusesAreReturned(_ status: Int) async throws {
        let server = try redirecting(status, to: "/to")
        #expect(try await transport.perform(server.request(.get, "/from")).head.status.code == status)
    }

    @Test func redirectWithoutLocationIsAResponse() async throws {
        let server = try LoopbackServer(.response(302, [:], "nowhere"))
        #expect(try await transport.perform(server.request()).text() == "nowhere")
    }

    @Test func onlyReplayableStreamIsSentAgain() async throws {
        let server = try redirecting(307, to: "/to")
        let chunks = [Data("a".utf8), Data("b".utf8)]
        let once = HTTPBody.stream { AsyncStream(chunks) }
        let error = try await transport.failure(of: server.request(.post, "/from", body: once))
        #expect(error.phase == .redirect)
        #expect(error.message.contains("replay"))
        #expect(server.requests.map(\.target) == ["/from"])

        let again = HTTPBody.stream(isReplayable: true) { AsyncStream(chunks) }
        _ = try await transport.perform(server.request(.post, "/from", body: again))
        #expect(server.requests.suffix(2).map(\.body) == [Data("ab".utf8), Data("ab".utf8)])
    }

    @Test func longBodyOfARedirectIsNotReadCompletely() async throws {
        let server = try LoopbackServer { request in
            guard request.target == "/from" else { return .response(200, [:], "there") }
            let head = "HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 10000000000\r\n\r\n"
            return .sequence([.raw(head), .endless(String(repeating: "x", count: 4096))])
        }
        let response = try await transport.perform(server.request(.get, "/from", options: .limited))
        #expect(try await response.text() == "there")
        #expect(server.record.bytesSent < 64 << 20)
    }

    @Test func streamedRequestFollowsRedirects() async throws {
        let server = try redirecting(302, to: "/to")
        let response = try await transport.perform(server.request(.get, "/from", delivery: .stream))
        #expect(try await response.text() == "/to")
    }
}

extension AsyncStream {
    /// Creates a stream of these elements.
    init(_ elements: [Element]) where Element: Sendable {
        self.init { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish()
        }
    }
}
