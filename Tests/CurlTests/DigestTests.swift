import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Authentication of a transfer.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct DigestTests {
    let transport = CurlTransport()
    let credentials = Credentials(user: "user", password: "hunter2")

    private func options(_ authentication: Authentication) -> TransferOptions {
        var options = TransferOptions.limited
        options.authentication = authentication
        return options
    }

    /// A server that requires Digest and accepts any response to its challenge.
    private func server(_ challenge: String = "Digest realm=\"r\", nonce=\"n\", qop=auth") throws -> LoopbackServer {
        try LoopbackServer { request in
            request["Authorization"] == nil
                ? .response(401, ["WWW-Authenticate": challenge], "who?") : .response(200, [:], request.body)
        }
    }

    @Test func digestChallengeResendsTheRequestWithItsBody() async throws {
        let server = try server()
        let request = try server.request(
            .post,
            "/a?b=c",
            body: HTTPBody("text"),
            options: options(.digest(credentials))
        )
        let response = try await transport.perform(request)
        #expect(try await response.text() == "text")
        #expect(response.metrics.hops.map(\.status) == [401])
        #expect(response.metrics.redirects == 0)
        let answer = try #require(server.requests.last?["Authorization"])
        #expect(answer.hasPrefix("Digest username=\"user\", realm=\"r\", nonce=\"n\", uri=\"/a?b=c\""))
        #expect(server.requests.allSatisfy { !String(decoding: $0.raw, as: UTF8.self).contains("hunter2") })
        #expect(server.record.connections == 1)
    }

    @Test func wrongPasswordReturnsThe401Response() async throws {
        let server = try LoopbackServer(.response(401, ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n\""], "no"))
        let response = try await transport.perform(server.request(options: options(.digest(credentials))))
        #expect(response.status.code == 401)
        #expect(try await response.text() == "no")
        #expect(server.record.requestCount == 2)
    }

    @Test func staleNonceIsRetriedALimitedNumberOfTimes() async throws {
        let challenge = "Digest realm=\"r\", nonce=\"n\", stale=true"
        let server = try LoopbackServer(.response(401, ["WWW-Authenticate": challenge]))
        let response = try await transport.perform(server.request(options: options(.digest(credentials))))
        #expect(response.status.code == 401)
        #expect(server.record.requestCount == 4)
    }

    @Test func challengeOfAnotherRealmAfterARedirectIsAccepted() async throws {
        let server = try LoopbackServer { request in
            let challenge = "Digest realm=\"\(request.target)\", nonce=\"n\""
            guard request["Authorization"]?.contains("realm=\"\(request.target)\"") == true else {
                return .response(401, ["WWW-Authenticate": challenge])
            }
            return request.target == "/a" ? .response(307, ["Location": "/b"]) : .response(200, [:], "in")
        }
        let response = try await transport.perform(server.request(.get, "/a", options: options(.digest(credentials))))
        #expect(response.status.code == 200)
        #expect(try await response.text() == "in")
        #expect(server.requests.map(\.target) == ["/a", "/a", "/b", "/b"])
    }

    @Test func newRealmsAreRetriedALimitedNumberOfTimes() async throws {
        let count = Lock(0)
        let server = try LoopbackServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .response(401, ["WWW-Authenticate": "Digest realm=\"\(number)\", nonce=\"n\""])
        }
        let response = try await transport.perform(server.request(options: options(.digest(credentials))))
        #expect(response.status.code == 401)
        #expect(server.record.requestCount == 4)
    }

    @Test(arguments: ["Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", algorithm=odd", ""])
    func unsupportedChallengeReturnsThe401Response(_ challenge: String) async throws {
        let server = try server(challenge)
        let response = try await transport.perform(server.request(options: options(.digest(credentials))))
        #expect(response.status.code == 401)
        #expect(server.record.requestCount == 1)
    }

    @Test(.enabled(if: LighttpdPeer.isAvailable, "lighttpd is not installed"), arguments: ["md5", "sha256", "basic"])
    func realServerAcceptsOnlyTheRightPassword(_ folder: String) async throws {
        let peer = try LighttpdPeer.shared.get()
        let head = HTTPRequest(method: .get, scheme: "http", authority: peer.authority, path: "/\(folder)/file?x=%20y")
        func status(_ password: String) async throws -> Int {
            let credentials = Credentials(user: "user", password: password)
            let authentication = folder == "basic" ? Authentication.basic(credentials) : .digest(credentials)
            let request = TransferRequest(head, options: options(authentication))
            return try await transport.perform(request).status.code
        }
        #expect(try await status("open sesame") == 200)
        #expect(try await status("close sesame") == 401)
    }

    static let schemes: [Authentication] = [
        .basic(Credentials(user: "user", password: "hunter2")), .bearer("hunter2"),
        .digest(Credentials(user: "user", password: "hunter2")),
    ]

    @Test(arguments: schemes) func redirectToAnotherOriginDropsTheCredentials(_ authentication: Authentication)
        async throws
    {
        let other = try server("Digest realm=\"evil\", nonce=\"n\"")
        let server = try LoopbackServer { request in
            request["Authorization"] == nil && authentication.description == "digest"
                ? .response(401, ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n\""])
                : .response(307, ["Location": request.target == "/same" ? "\(other.url)/" : "/same"])
        }
        let response = try await transport.perform(server.request(.get, "/", options: options(authentication)))
        #expect(response.status.code == 401)
        #expect(other.requests.map { $0["Authorization"] } == [nil])
        #expect(server.requests.last?.target == "/same")
        #expect(server.requests.last?["Authorization"] != nil)
    }

    @Test(arguments: [
        Authentication.basic(Credentials(user: "a:b", password: "c")), .bearer("a b"),
        .netrc(path: "/nonexistent/netrc"),
    ])
    func invalidCredentialsAreRejectedBeforeAnythingIsSent(_ authentication: Authentication) async throws {
        let server = try LoopbackServer(.response(200))
        let error = try await transport.failure(of: server.request(options: options(authentication)))
        #expect([.badConfiguration, .file].contains(error.kind))
        #expect(!error.mayHaveReachedServer)
        #expect(server.record.connections == 0)
    }
}
