import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Cookies and HSTS hosts that a transport remembers between requests.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct MemoryTests {
    let jar = CookieJar()
    let hsts = HSTSStore()
    let transport: CurlTransport

    init() {
        var configuration = CurlTransport.Configuration()
        configuration.cookies = jar
        configuration.hsts = hsts
        transport = CurlTransport(configuration)
    }

    private func cookies(of server: LoopbackServer) -> [String?] { server.requests.map { $0["Cookie"] } }

    @Test func storedCookieIsSentWithTheNextRequest() async throws {
        let server = try LoopbackServer { request in
            .response(200, request.target == "/login" ? ["Set-Cookie": "id=1", "set-cookie": "b=2; Path=/x"] : [:])
        }
        _ = try await transport.perform(server.request(.get, "/login"))
        _ = try await transport.perform(server.request(.get, "/"))
        _ = try await transport.perform(server.request(.get, "/x", ["Cookie": "id=own; c=3"]))
        #expect(cookies(of: server) == [nil, "id=1", "id=own; c=3; b=2"])
    }

    @Test func requestCanOptOutOfTheCookieJar() async throws {
        let server = try LoopbackServer(.response(200, ["Set-Cookie": "id=1"]))
        var options = TransferOptions.limited
        options.usesCookies = false
        _ = try await transport.perform(server.request(options: options))
        #expect(jar.cookies.isEmpty)
        _ = try await transport.perform(server.request())
        _ = try await transport.perform(server.request(options: options))
        #expect(cookies(of: server) == [nil, nil, nil])
        #expect(jar.cookies.count == 1)
    }

    @Test func transportWithoutACookieJarStoresNoCookies() async throws {
        let server = try LoopbackServer(.response(200, ["Set-Cookie": "id=1"]))
        let transport = CurlTransport()
        for _ in 1...2 { _ = try await transport.perform(server.request()) }
        #expect(cookies(of: server) == [nil, nil])
    }

    /// HTTPFields splits the cookies into a field each.
    @Test(arguments: [true, false])
    func cookiesOfTheAppAreSentInOneField(withJar: Bool) async throws {
        jar.set(Cookie(name: "jar", value: "3", domain: "127.0.0.1", isSecure: false))
        let server = try LoopbackServer(.response(200))
        var request = try server.request()
        request.head.headerFields[.cookie] = "a=1; b=2"
        request.head.headerFields[.accept] = "x/y"
        #expect(request.head.headerFields[values: .cookie] == ["a=1", "b=2"])
        _ = try await (withJar ? transport : CurlTransport()).perform(request)
        let lines = server.requests[0].fields.filter { $0.name == "Cookie" }.map(\.value)
        #expect(lines == [withJar ? "a=1; b=2; jar=3" : "a=1; b=2"])
    }

    @Test(.enabled(if: NginxPeer.isAvailable, "nginx is not installed"), arguments: [true, false])
    func cookiesOfTheAppAreSentTogetherOverHTTP2(withJar: Bool) async throws {
        jar.set(Cookie(name: "jar", value: "3", domain: "localhost"))
        var request = try NginxPeer.shared.get().request("/cookie")
        request.head.headerFields[.cookie] = "a=1; b=2"
        request.options.keepsRequestHead = true
        let response = try await (withJar ? transport : CurlTransport()).perform(request)
        let cookies = withJar ? "a=1; b=2; jar=3" : "a=1; b=2"
        #expect(response.metrics.protocolName == "HTTP/2")
        #expect(try await response.text() == cookies)
    }

    @Test func redirectStoresCookiesAndSendsThoseOfItsHost() async throws {
        let other = try LoopbackServer(.response(200, ["Set-Cookie": "other=1"]))
        let server = try LoopbackServer { request in
            request.target == "/login"
                ? .response(303, ["Location": "/home", "Set-Cookie": "id=1"])
                : .response(307, ["Location": "http://localhost:\(other.port)/", "Set-Cookie": "home=1"])
        }
        _ = try await transport.perform(server.request(.post, "/login", ["Cookie": "own=1"], body: HTTPBody("x")))
        #expect(cookies(of: server) == ["own=1", "own=1; id=1"])
        #expect(cookies(of: other) == [nil])
        #expect(
            Set(jar.cookies.map { "\($0.domain) \($0.name)" }) == ["127.0.0.1 id", "127.0.0.1 home", "localhost other"]
        )
    }

    @Test func errorDoesNotContainCookies() async throws {
        jar.set(Cookie(name: "id", value: "hunter2", domain: "127.0.0.1", isSecure: false))
        let server = try LoopbackServer(.close)
        let error = try await transport.failure(of: server.request())
        #expect(server.requests.first?["Cookie"] == "id=hunter2")
        #expect(!String(reflecting: error).contains("hunter2"))
        var dumped = ""
        dump(error, to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }

    // MARK: - HSTS

    @Test func requestToAnHSTSHostUsesTLS() async throws {
        let server = try LoopbackServer(onConnect: .close) { _ in .close }
        hsts.set(HSTSStore.Host(name: "localhost"))
        var request = try server.request()
        request.head.authority = "localhost:\(server.port)"
        let error = try await transport.failure(of: request)
        #expect(error.phase == .tls, "\(error)")
        #expect(error.request?.scheme == "https")
        #expect(server.record.requestCount == 0)
    }

    @Test func redirectToAnHSTSHostIsUpgradedToHTTPS() async throws {
        let secure = try LoopbackServer(onConnect: .close) { _ in .close }
        let server = try LoopbackServer(.response(302, ["Location": "http://localhost:\(secure.port)/"]))
        hsts.set(HSTSStore.Host(name: "localhost"))
        let error = try await transport.failure(of: server.request())
        #expect(error.phase == .tls, "\(error)")
        #expect(error.metrics?.hops.map(\.status) == [302])
    }

    @Test func hstsFieldIsIgnoredWithoutTLS() async throws {
        let server = try LoopbackServer(.response(200, ["Strict-Transport-Security": "max-age=60"]))
        var request = try server.request()
        request.head.authority = "localhost:\(server.port)"
        _ = try await transport.perform(request)
        #expect(hsts.hosts.isEmpty)
    }

    @Test(.enabled(if: NginxPeer.isAvailable, "nginx is not installed"))
    func hstsFieldIsStoredOverTLS() async throws {
        let nginx = try NginxPeer.shared.get()
        var request = nginx.request("/hsts")
        request.head.authority = "localhost:\(nginx.ports.secure)"
        _ = try await transport.perform(request)
        #expect(hsts.hosts.map(\.name) == ["localhost"])
        request.head.scheme = "http"
        let response = try await transport.perform(request)
        #expect(response.url == "https://localhost:\(nginx.ports.secure)/hsts")
        #expect(response.status.code == 200)
    }
}
