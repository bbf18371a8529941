import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Scripted proxies: the requests that they receive, and their failures.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct ProxyTests {
    let transport = CurlTransport()
    static let secrets = ["s3same", "dXNlcjpzM3NhbWU=", "tok3n"]

    /// Makes a request to an unknown host with the server as its proxy.
    private func request(
        _ scheme: String = "https",
        through server: LoopbackServer,
        _ change: (inout Proxy) -> Void = { _ in }
    ) throws -> TransferRequest {
        var proxy = Proxy(.http, host: "127.0.0.1", port: Int(server.port))
        change(&proxy)
        var options = TransferOptions.limited
        options.proxy = .through(proxy)
        var head = HTTPRequest(method: .get, scheme: scheme, authority: "server.invalid", path: "/path")
        head.headerFields[.authorization] = "Bearer of-the-server"
        head.headerFields[.cookie] = "of=the-server"
        return TransferRequest(head, options: options)
    }

    private static func confess(_ proxy: inout Proxy) {
        proxy.credentials = Credentials(user: "user", password: "s3same")
        proxy.fields = [.init("X-Proxy-Token")!: "tok3n"]
    }

    private func expectNoSecret(in error: NetworkError, sourceLocation: SourceLocation = #_sourceLocation) {
        var shown = ""
        dump(error, to: &shown)
        for secret in Self.secrets {
            #expect(!"\(error)".contains(secret), sourceLocation: sourceLocation)
            #expect(!shown.contains(secret), sourceLocation: sourceLocation)
        }
    }

    @Test func proxyReceivesOnlyItsOwnCredentials() async throws {
        let proxy = try LoopbackServer(.response(403))
        let error = try await transport.failure(of: request(through: proxy, Self.confess))
        let message = try #require(proxy.requests.first)
        #expect(message.method == "CONNECT" && message.target == "server.invalid:443")
        #expect(message["Proxy-Authorization"] == "Basic dXNlcjpzM3NhbWU=")
        #expect(message["X-Proxy-Token"] == "tok3n")
        #expect(message["Authorization"] == nil && message["Cookie"] == nil)
        #expect(error.kind == .connect && error.phase == .connect)
        #expect(error.message.contains("403"))
        #expect(error.advice?.contains("http://127.0.0.1:\(proxy.port)") == true)
        #expect(!error.mayHaveReachedServer)
        expectNoSecret(in: error)
    }

    @Test func plainRequestIsSentToTheProxyUnchanged() async throws {
        let proxy = try LoopbackServer(.response(200, [:], "from the proxy"))
        let response = try await transport.perform(request("http", through: proxy, Self.confess))
        #expect(try await response.text() == "from the proxy")
        let message = try #require(proxy.requests.first)
        #expect(message.target == "http://server.invalid/path")
        #expect(message["Proxy-Authorization"] == "Basic dXNlcjpzM3NhbWU=")
        #expect(message["Authorization"] == "Bearer of-the-server")
    }

    @Test func exceptionBypassesTheProxy() async throws {
        let proxy = try LoopbackServer(.response(200, [:], "from the proxy"))
        let server = try LoopbackServer(.response(200, [:], "from the server"))
        let table = [
            (["127.0.0.0/8"], "server"), (["other.example"], "proxy"), (["*"], "server"),
            (["other.example", "*"], "server"),
        ]
        for (exceptions, answer) in table {
            var made = Proxy(.http, host: "127.0.0.1", port: Int(proxy.port))
            made.exceptions = exceptions
            var options = TransferOptions.limited
            options.proxy = .through(made)
            let response = try await transport.perform(server.request(options: options))
            #expect(try await response.text() == "from the \(answer)")
        }
    }

    private static let addressInAnExceptedNetworkBypassesTheProxyArguments: [(String, Bool)] = [
        ("::1/64", true), ("::/0", true), ("::1/128", true), ("::1", true), ("0::1", true), ("fd00::/8", false),
        ("::2", false), ("127.0.0.0/8", false),
    ]

    /// libcurl 7.88 ignores IPv6 networks.
    @Test(arguments: Self.addressInAnExceptedNetworkBypassesTheProxyArguments)
    func addressInAnExceptedNetworkBypassesTheProxy(_ exception: String, _ isException: Bool) async throws {
        let proxy = try LoopbackServer(.response(200, [:], "from the proxy"))
        let server = try LoopbackServer(.response(200, [:], "from the server"))
        var made = Proxy(.http, host: "127.0.0.1", port: Int(proxy.port))
        made.exceptions = ["other.example", exception]
        var options = TransferOptions.limited
        options.proxy = .through(made)
        // An IPv4 address stands in for the IPv6 address. With a proxy the override would require a tunnel.
        if isException { options.overrides = [TransferOptions.HostOverride(host: "[::1]", address: "127.0.0.1")] }
        let head = HTTPRequest(method: .get, scheme: "http", authority: "[::1]:\(server.port)", path: "/a")
        let response = try await transport.perform(TransferRequest(head, options: options))
        #expect(try await response.text() == "from the \(isException ? "server" : "proxy")")
        #expect(
            (isException ? server : proxy).requests.first?.target
                == (isException ? "/a" : "http://[::1]:\(server.port)/a")
        )
    }

    private static let malformedResponseToCONNECTIsRejectedArguments: [String] = [
        "HTTP/1.1 200 OK\r\nX: a\u{0}b\r\n\r\n", "HTTP/1.1 200 O\u{0}K\r\n\r\n", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n",
        "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"a\u{0}\"\r\nContent-Length: 0\r\n\r\n",
    ]

    @Test(arguments: Self.malformedResponseToCONNECTIsRejectedArguments)
    func malformedResponseToCONNECTIsRejected(_ answer: String) async throws {
        let proxy = try LoopbackServer { $0.method == "CONNECT" ? .raw(answer) : .response(200, [:], "through") }
        var request = try request("http", through: proxy) { $0.tunnelsEverything = true }
        let error = try await transport.failure(of: request)
        #expect(error.kind == .protocol && error.phase == .connect && error.transportCode == 8, "\(error)")
        #expect(!error.mayHaveReachedServer)
        #expect(proxy.requests.map(\.method) == ["CONNECT"])

        let good = try LoopbackServer {
            $0.method == "CONNECT" ? .raw("HTTP/1.1 200 OK\r\n\r\n") : .response(200, [:], "through")
        }
        request = try self.request("http", through: good) { $0.tunnelsEverything = true }
        for _ in 1...2 { #expect(try await transport.perform(request).text() == "through") }
    }

    @Test func silentProxyIsAConnectTimeout() async throws {
        let proxy = try LoopbackServer(.stall)
        var request = try request(through: proxy)
        request.options.timeouts = TransferOptions.Timeouts(connect: .milliseconds(200), total: .seconds(20))
        let error = try await transport.failure(of: request)
        #expect(error.kind == .timeout && error.phase == .connect, "\(error)")
        #expect(!error.mayHaveReachedServer)
    }

    @Test(arguments: [LoopbackServer.Response.close, .reset, .raw("nonsense\r\n\r\n"), .response(407)])
    func refusingProxyIsAConnectError(_ answer: LoopbackServer.Response) async throws {
        let proxy = try LoopbackServer(answer)
        let error = try await transport.failure(of: request(through: proxy, Self.confess))
        #expect([.connect, .network, .protocol].contains(error.kind), "\(error)")
        #expect(error.phase == .connect, "\(error)")
        #expect(!error.mayHaveReachedServer)
        expectNoSecret(in: error)
        try await transport.proveHealth()
    }

    @Test func errorNamesTheUnreachableProxy() async throws {
        let proxy = try LoopbackServer(.close)
        let refused = try await transport.failure(of: request(through: proxy) { $0.port = 1 })
        #expect(refused.kind == .connect)
        #expect(refused.advice?.contains("the proxy http://127.0.0.1:1") == true)
        let unknown = try await transport.failure(of: request(through: proxy) { $0.host = "proxy.invalid" })
        #expect(unknown.kind == .dns && unknown.phase == .resolve)
        #expect(unknown.advice?.contains("http://proxy.invalid:\(proxy.port)") == true)
    }

    @Test func proxyAuthorizationInTheRequestIsRejected() async throws {
        let proxy = try LoopbackServer(.response(200))
        var request = try request(through: proxy)
        request.head.headerFields[.proxyAuthorization] = "Basic tok3n"
        let error = try await transport.failure(of: request)
        #expect(error.kind == .badRequest && error.message.contains("Proxy-Authorization"))
        #expect(!"\(error)".contains("tok3n"))
        #expect(proxy.requests.isEmpty)
    }

    @Test func descriptionsDoNotContainSecrets() {
        var proxy = Proxy(.http, host: "127.0.0.1", port: 80)
        Self.confess(&proxy)
        var options = TransferOptions()
        options.proxy = .through(proxy)
        options.identity = TLS.Identity(pkcs12: Data("s3same".utf8), passphrase: "tok3n")
        var shown = "\(options) \(proxy) \(String(reflecting: proxy.credentials))"
        dump(options, to: &shown)
        for secret in Self.secrets { #expect(!shown.contains(secret)) }
    }
}

/// Real proxies from Debian packages.
@Suite(
    .leavesNothing,
    .timeLimit(.minutes(5)),
    .enabled(
        if: ProxyPeer.isAvailable && NginxPeer.isAvailable,
        "tinyproxy, squid, microsocks, danted or nginx missing"
    )
)
struct RealProxyTests {
    let transport = CurlTransport()
    let peer: ProxyPeer
    let nginx: NginxPeer

    init() throws {
        peer = try ProxyPeer.shared.get()
        nginx = try NginxPeer.shared.get()
    }

    private var proxies: [Proxy] {
        // dante doesn't accept host names over SOCKS 4a.
        var proxies = [peer.plain, peer.secure, peer.socks5, peer.socks4, peer.socks5]
        proxies[4].scheme = .socks5h
        return proxies
    }

    private func through(_ proxy: Proxy, _ request: TransferRequest) -> TransferRequest {
        var request = request
        request.options.proxy = .through(proxy)
        return request
    }

    @Test func everyProxyForwardsPlainAndSecureRequests() async throws {
        for proxy in proxies {
            let server = try LoopbackServer(.response(200, [:], "plain"))
            let plain = try await transport.perform(through(proxy, server.request(options: .limited)))
            #expect(try await plain.text() == "plain")
            #expect(plain.metrics.remoteAddress.hasSuffix(":\(proxy.port)"), "\(proxy)")
            #expect(server.requests.first?["Proxy-Authorization"] == nil)
            #expect((server.requests.first?["Via"] != nil) == proxy.scheme.isHTTP, "\(proxy)")

            var request = through(proxy, nginx.request("/secure"))
            request.head.authority = "127.0.0.1:\(nginx.ports.secure)"
            let secure = try await transport.perform(request)
            #expect(try await secure.text().hasSuffix("HTTP/2.0 /secure"))
            #expect(secure.metrics.remoteAddress.hasSuffix(":\(proxy.port)"), "\(proxy)")
            #expect(try await transport.perform(request).metrics.isConnectionReused, "\(proxy)")
        }
    }

    @Test func tunnelHidesTheProxyFieldsFromTheServer() async throws {
        let server = try LoopbackServer(.response(200))
        var proxy = peer.plain
        proxy.tunnelsEverything = true
        proxy.fields = [.init("X-For-The-Proxy")!: "1"]
        _ = try await transport.perform(through(proxy, server.request()))
        let message = try #require(server.requests.first)
        #expect(message["Via"] == nil && message["X-For-The-Proxy"] == nil && message["Proxy-Authorization"] == nil)

        let sight = try await NginxPeer.ObservedClient(
            transport.perform(through(proxy, nginx.request("/", port: \.old)))
        )
        #expect(sight.tls == "TLSv1.2" && sight.proxyCredentials.isEmpty)
    }

    @Test func wrongCredentialsAreRejectedDespiteAnOpenTunnel() async throws {
        let request = nginx.request("/")
        _ = try await transport.perform(through(peer.plain, request))
        var proxy = peer.plain
        for wrong in [Credentials(user: "beagle", password: "wrong"), nil] {
            proxy.credentials = wrong
            let error = try await transport.failure(of: through(proxy, request))
            #expect(error.kind == .connect && error.message.contains("CONNECT"), "\(error)")
        }
        #expect(try await transport.perform(through(peer.plain, request)).metrics.isConnectionReused)

        proxy = peer.socks5
        proxy.credentials?.password = "wrong"
        // libcurl 8.14 passes the first address of localhost to the proxy, and nginx may not listen on that one.
        var tunnelled = request
        tunnelled.options.ipVersion = .v4
        _ = try await transport.perform(through(peer.socks5, tunnelled))
        let error = try await transport.failure(of: through(proxy, tunnelled))
        #expect(error.kind == .connect && error.phase == .connect, "\(error)")
        #expect(error.advice?.contains("socks5://127.0.0.1") == true)
    }

    @Test func rightCredentialsReuseTheirTunnelAfterWrongOnes() async throws {
        var wrong = peer.plain
        wrong.credentials?.password = "wrong"
        let request = nginx.request("/")
        #expect(try await transport.failure(of: through(wrong, request)).kind == .connect)
        _ = try await transport.perform(through(peer.plain, request))
        #expect(try await transport.perform(through(peer.plain, request)).metrics.isConnectionReused)
    }

    @Test func proxyHostIsCaseInsensitive() async throws {
        var (one, other) = (peer.plain, peer.plain)
        (one.host, other.host) = ("localhost", "LOCALHOST")
        other.credentials?.password = "wrong"
        let request = nginx.request("/")
        _ = try await transport.perform(through(one, request))
        #expect(try await transport.failure(of: through(other, request)).kind == .connect)
    }

    @Test func otherCredentialsDoNotShareConnections() async throws {
        var proxy = peer.secure
        let request = nginx.request("/")
        _ = try await transport.perform(through(proxy, request))
        proxy.credentials = Credentials(user: "another", password: "one")
        for _ in 1...2 {
            #expect(try await !transport.perform(through(proxy, request)).metrics.isConnectionReused)
        }
        #expect(try await transport.perform(through(peer.secure, request)).metrics.isConnectionReused)
    }

    @Test func certificateOfTheProxyIsChecked() async throws {
        for trust in [TLS.Trust.system, .file(path: Peer.path("Certificates/self-signed.pem"))] {
            var proxy = peer.secure
            proxy.trust = trust
            let error = try await transport.failure(of: through(proxy, nginx.request("/")))
            #expect(error.kind == .tls, "\(error)")
            #expect(error.advice?.contains("Proxy.trust") == true, "\(error)")
        }
        var proxy = peer.secure
        proxy.trust = .authorities(try Data(contentsOf: Peer.path("Certificates/ca.pem")))
        #expect(try await transport.perform(through(proxy, nginx.request("/"))).status == .ok)
    }

    @Test func redirectThroughTheProxyDropsTheServersCredentials() async throws {
        let second = try LoopbackServer(.response(200, [:], "second"))
        // tinyproxy keeps forwarding to the same server as long as that keeps the connection open.
        let first = try LoopbackServer(.sequence([.response(302, ["Location": second.url]), .close]))
        var request = through(peer.plain, try first.request(options: .limited))
        request.head.headerFields[.authorization] = "Bearer of-the-first"
        #expect(try await transport.perform(request).text() == "second")
        #expect(first.requests.first?["Authorization"] == "Bearer of-the-first")
        #expect(second.requests.first?["Authorization"] == nil)
        #expect(second.requests.first?["Via"] != nil)
    }
}

extension Data {
    /// Reads the bytes of a file of the tests.
    init(contentsOf path: String) throws {
        let reader = FileReader(path: path)
        self.init()
        while let piece = try reader.next() { append(piece) }
    }
}
