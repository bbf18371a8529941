import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

/// Unix sockets, overrides, IP versions, local endpoints and content codings.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct ConnectionOptionTests {
    let transport = CurlTransport()

    private func options(_ change: (inout TransferOptions) -> Void) -> TransferOptions {
        var options = TransferOptions.limited
        change(&options)
        return options
    }

    // MARK: overrides

    @Test func overriddenHostIsReachedAtItsAddressWithItsName() async throws {
        let server = try LoopbackServer(.response(200, [:], "here"))
        var request = try server.request(
            options: options {
                $0.overrides = [
                    TransferOptions.HostOverride(host: "*", address: "127.0.0.1", addressPort: Int(server.port))
                ]
            }
        )
        request.head.authority = "service.invalid:8080"
        #expect(try await transport.perform(request).text() == "here")
        #expect(server.requests.first?["Host"] == "service.invalid:8080")
        request.options.overrides = [
            TransferOptions.HostOverride(host: "other.invalid", address: "127.0.0.2"),
            TransferOptions.HostOverride(
                host: "service.invalid",
                port: 8080,
                address: "127.0.0.1",
                addressPort: Int(server.port)
            ),
        ]
        #expect(try await transport.perform(request).text() == "here")
    }

    @Test func overrideDoesNotAffectTheNextTransfer() async throws {
        let server = try LoopbackServer(.response(200))
        var request = try server.request(
            options: options {
                $0.overrides = [TransferOptions.HostOverride(host: "service.invalid", address: "127.0.0.1")]
            }
        )
        request.head.authority = "service.invalid:\(server.port)"
        _ = try await transport.perform(request)
        request.options.overrides = []
        #expect(try await transport.failure(of: request).kind == .dns)
        request.options.overrides = [TransferOptions.HostOverride(host: "service.invalid", address: "127.0.0.2")]
        #expect(try await transport.failure(of: request).kind == .connect)
    }

    // MARK: IP versions

    @Test func requestedIPVersionIsUsed() async throws {
        let server = try LoopbackServer(.response(200))
        var request = try server.request(options: options { $0.ipVersion = .v4 })
        request.head.authority = "localhost:\(server.port)"
        #expect(try await transport.perform(request).metrics.remoteAddress == "127.0.0.1:\(server.port)")
        request.options.ipVersion = .any
        _ = try await transport.perform(request)
        request.options.ipVersion = .v6
        let error = try await transport.failure(of: request)
        #expect([.connect, .dns].contains(error.kind), "\(error)")
    }

    // MARK: local endpoint

    @Test(.enabled(if: NginxPeer.isAvailable, "nginx is not installed"))
    func requestedLocalAddressAndPortAreUsed() async throws {
        let peer = try NginxPeer.shared.get()
        var request = peer.request("/", port: \.seeing)
        request.head.authority = "127.0.0.1:\(peer.ports.seeing)"
        request.options.local = TransferOptions.LocalEndpoint(interface: "127.0.0.9", ports: 20_000...29_999)
        let sight = try await NginxPeer.ObservedClient(transport.perform(request))
        #expect(sight.address == "127.0.0.9")
        #expect(try (20_000...29_999).contains(#require(Int(sight.port))))
        request.options.local = TransferOptions.LocalEndpoint(interface: "127.0.0.8")
        #expect(try await NginxPeer.ObservedClient(transport.perform(request)).address == "127.0.0.8")
    }

    @Test func localInterfaceIsSelectedByName() async throws {
        let server = try LoopbackServer(.response(200))
        #if os(Linux)
            let loopback = "lo"
        #else
            let loopback = "lo0"
        #endif
        let request = try server.request(options: options { $0.local.interface = loopback })
        #expect(try await transport.perform(request).status == .ok)
        let error = try await transport.failure(of: server.request(options: options { $0.local.interface = "nosuch0" }))
        #expect(error.kind == .connect && error.phase == .connect)
        #expect(error.message.contains("nosuch0"), "\(error)")
        #expect(error.advice?.contains("TransferOptions.local") == true)
    }

    // MARK: Unix sockets

    @Test(.enabled(if: NginxPeer.isAvailable, "nginx is not installed"))
    func unixSocketIsUsedForAnyHost() async throws {
        let peer = try NginxPeer.shared.get()
        var request = peer.request("/", port: \.seeing)
        request.head.authority = "service.invalid"
        request.options.unixSocket = peer.ports.socket
        for isReused in [false, true] {
            let response = try await transport.perform(request)
            #expect(response.metrics.isConnectionReused == isReused)
            let sight = try await NginxPeer.ObservedClient(response)
            #expect(sight.address == "unix:" && sight.host == "service.invalid")
        }
        request.options.unixSocket = nil
        #expect(try await transport.failure(of: request).kind == .dns)
        request.options.unixSocket = "/nowhere/socket"
        let error = try await transport.failure(of: request)
        #expect(error.kind == .connect, "\(error)")
    }

    // MARK: codings

    private static let requestedCodingsAreSentInAcceptEncodingArguments: [([TransferOptions.ContentCoding]?, String?)] =
        [
            (nil, nil), ([], ""), ([.gzip], "gzip"), ([.deflate, .gzip], "deflate, gzip"),
        ]

    @Test(arguments: Self.requestedCodingsAreSentInAcceptEncodingArguments)
    func requestedCodingsAreSentInAcceptEncoding(_ codings: [TransferOptions.ContentCoding]?, _ field: String?)
        async throws
    {
        let packed = try Deflated.gzip(Data("unpacked".utf8))
        let server = try LoopbackServer(.response(200, ["Content-Encoding": "gzip"], packed))
        let response = try await transport.perform(server.request(options: options { $0.codings = codings }))
        #expect(try await response.body.collect() == (codings == [] ? packed : Data("unpacked".utf8)))
        let accepted = server.requests.first?["Accept-Encoding"]
        #expect(field == nil ? accepted?.hasPrefix("gzip, deflate") == true : (accepted ?? "") == field)
    }

    // MARK: connection settings of the configuration

    @Test func configuredConnectionsWork() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.connectionLifetime = .seconds(60)
        configuration.idleConnectionLifetime = .seconds(30)
        configuration.keepAlive = .init(idle: .seconds(7), interval: .seconds(3))
        configuration.happyEyeballsDelay = .milliseconds(50)
        let server = try LoopbackServer(.response(200))
        let transport = CurlTransport(configuration)
        _ = try await transport.perform(server.request())
        #expect(try await transport.perform(server.request()).metrics.isConnectionReused)
        #if os(Linux)
            #expect(try keepAliveTimers(to: server.port) == 1)
            let plain = try LoopbackServer(.response(200))
            _ = try await self.transport.perform(plain.request())
            #expect(try keepAliveTimers(to: plain.port) == 0)
        #endif
    }

    /// libcurl counts whole seconds, and the limit is exceeded only with more of them.
    @Test(arguments: [true, false]) func connectionIsNotReusedBeyondItsLifetime(_ isIdle: Bool) async throws {
        var configuration = CurlTransport.Configuration()
        if isIdle {
            configuration.idleConnectionLifetime = .seconds(1)
        } else {
            configuration.connectionLifetime = .seconds(1)
        }
        let server = try LoopbackServer(.response(200))
        let transport = CurlTransport(configuration)
        for isReused in [false, true, false] {
            if !isReused, server.record.connections > 0 { try await Task.sleep(for: .milliseconds(2_100)) }
            let metrics = try await transport.perform(server.request()).metrics
            #expect(metrics.isConnectionReused == isReused)
        }
    }

    @Test func idleConnectionsDoNotExceedTheLimit() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maxIdleConnections = 2
        let came = Lock(0)
        let server = try LoopbackServer { _ in
            came.withLock { $0 += 1 }
            while came.withLock({ $0 < 8 }) { Thread.sleep(forTimeInterval: 0.001) }
            return .response(200)
        }
        let transport = CurlTransport(configuration)
        let request = try server.request()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...8 { group.addTask { _ = try await transport.perform(request) } }
            try await group.waitForAll()
        }
        #expect(server.record.connections == 8)
        #expect(await server.until { $0.openConnections <= 2 })
        #expect(try await transport.perform(request).metrics.isConnectionReused)
    }

    #if os(Linux)
        /// Counts the connections to a port with a running keep-alive timer (proc(5): timer 02). They are identified by
        /// their local addresses, because the table repeats rows while other tests open and close connections.
        private func keepAliveTimers(to port: UInt16) throws -> Int {
            let table = String(decoding: try Data(contentsOf: "/proc/net/tcp"), as: UTF8.self)
            let remote = ":\(String(port, radix: 16, uppercase: true)) 01 "
            let rows = table.split(separator: "\n").filter { $0.contains(remote) && $0.contains(" 02:") }
            return Set(rows.map { $0.split(separator: " ")[1] }).count
        }
    #endif

    typealias Change = @Sendable (inout CurlTransport.Configuration) -> Void

    static let outOfRange: [(String, Change)] = [
        ("idleConnectionLifetime", { $0.idleConnectionLifetime = .zero }),
        ("connectionLifetime", { $0.connectionLifetime = .milliseconds(999) }),
        ("keepAlive.idle", { $0.keepAlive = .init(idle: .seconds(3_601)) }),
        ("keepAlive.interval", { $0.keepAlive = .init(interval: .seconds(-1)) }),
        ("happyEyeballsDelay", { $0.happyEyeballsDelay = .seconds(11) }),
    ]

    @Test(arguments: outOfRange) func errorNamesTheDurationOutOfRange(_ name: String, _ change: Change) {
        var configuration = CurlTransport.Configuration()
        change(&configuration)
        let error = #expect(throws: NetworkError.self) { try configuration.validate() }
        #expect(error?.kind == .badConfiguration)
        #expect(error?.message.hasPrefix("CurlTransport.Configuration.\(name) is ") == true)
    }
}

/// Option values that are invalid.
@Suite(.leavesNothing)
struct OptionsCheckTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let option: String
        let change: @Sendable (inout TransferOptions) -> Void

        init(_ option: String, _ name: String, _ change: @escaping @Sendable (inout TransferOptions) -> Void) {
            testDescription = "\(option): \(name)"
            self.option = option
            self.change = change
        }

        static func proxy(
            _ name: String,
            _ scheme: Proxy.Scheme = .http,
            _ change: @escaping @Sendable (inout Proxy) -> Void
        ) -> Row {
            Row("proxy", name) {
                var proxy = Proxy(scheme, host: "proxy", port: 80)
                change(&proxy)
                $0.proxy = .through(proxy)
            }
        }
    }

    static let rows = [
        Row("trust", "empty path") { $0.trust = .file(path: "") },
        Row("trust", "no PEM") { $0.trust = .authorities(Data("nonsense".utf8)) },
        Row("identity", "NUL in the passphrase") {
            $0.identity = TLS.Identity(certificate: Data(), passphrase: "a\0b")
        },
        Row("ciphers", "two names in one") { $0.ciphers.tls12 = ["A:B"] },
        Row("ciphers", "empty name") { $0.ciphers.tls13 = [""] },
        Row("unixSocket", "empty path") { $0.unixSocket = "" },
        Row("unixSocket", "NUL") { $0.unixSocket = "/tmp/\0" },
        Row("unixSocket", "longer than an address") { $0.unixSocket = "/" + String(repeating: "a", count: 107) },
        Row("unixSocket", "beside a proxy") {
            $0.unixSocket = "/tmp/socket"
            $0.proxy = .through(Proxy(.http, host: "proxy", port: 80))
        },
        Row("unixSocket", "beside an address of our own") {
            $0.unixSocket = "/tmp/socket"
            $0.local.interface = "lo"
        },
        Row("unixSocket", "beside a version of IP") {
            $0.unixSocket = "/tmp/socket"
            $0.ipVersion = .v4
        },
        Row("maxBodyBytes", "less than nothing") { $0.maxBodyBytes = -1 },
        Row("redirects.limit", "less than none") { $0.redirects = TransferOptions.RedirectPolicy(limit: -1) },
        Row("trust", "file that is not there") { $0.trust = .file(path: "/nowhere/ca.pem") },
        Row("overrides", "a name") { $0.overrides = [TransferOptions.HostOverride(host: "a", address: "b")] },
        Row("overrides", "bare IPv6 host") {
            $0.overrides = [TransferOptions.HostOverride(host: "::1", address: "::1")]
        },
        Row("overrides", "host with a port") {
            $0.overrides = [TransferOptions.HostOverride(host: "a:1", address: "::1")]
        },
        Row("overrides", "brackets") { $0.overrides = [TransferOptions.HostOverride(host: "a", address: "[::1]")] },
        Row("overrides", "empty host") { $0.overrides = [TransferOptions.HostOverride(host: "", address: "::1")] },
        Row("overrides", "port 0") {
            $0.overrides = [TransferOptions.HostOverride(host: "a", port: 0, address: "::1")]
        },
        Row("overrides", "port 65536") {
            $0.overrides = [TransferOptions.HostOverride(host: "a", address: "::1", addressPort: 65_536)]
        },
        Row("local", "empty name") { $0.local.interface = "" },
        Row("local", "a mark of libcurl's") { $0.local.interface = "host!a" },
        Row("local", "port 0") { $0.local.ports = 0...1 },
        Row("codings", "unknown") { $0.codings = [TransferOptions.ContentCoding(rawValue: "compress")] },
        Row("proxy", "beside a guard of addresses") {
            $0.proxy = .through(Proxy(.http, host: "proxy", port: 80))
            $0.addressGuard = .publicOnly
        },
        .proxy("empty host") { $0.host = "" },
        .proxy("host with a path") { $0.host = "a/b" },
        .proxy("port 0") { $0.port = 0 },
        .proxy("colon in the user name") { $0.credentials = Credentials(user: "a:b", password: "c") },
        .proxy("NUL in the password") { $0.credentials = Credentials(user: "a", password: "\0") },
        .proxy("password of SOCKS 4", .socks4) { $0.credentials = Credentials(user: "a", password: "b") },
        .proxy("no password of SOCKS 5", .socks5) { $0.credentials = Credentials(user: "a", password: "") },
        .proxy("fields of SOCKS", .socks5) { $0.fields = [.accept: "a"] },
        .proxy("tunnels of SOCKS", .socks5h) { $0.tunnelsEverything = true },
        .proxy("two exceptions in one") { $0.exceptions = ["a,b"] },
        .proxy("trust of an https proxy", .https) { $0.trust = .authorities(Data()) },
    ]

    @Test(arguments: rows) func invalidOptionIsNamedBeforeAnythingIsSent(_ row: Row) async throws {
        let server = try LoopbackServer(.response(200))
        var options = TransferOptions.limited
        row.change(&options)
        let error = try await CurlTransport().failure(of: server.request(options: options))
        #expect(error.kind == .badConfiguration && error.phase == .build, "\(error)")
        #expect(error.message.hasPrefix("TransferOptions.\(row.option)"), "\(error)")
        #expect(!error.mayHaveReachedServer)
        #expect(server.record.connections == 0)
    }

    /// Options are not validated again if the result is known.
    @Test func invalidOptionsAreRejectedEveryTime() async throws {
        let server = try LoopbackServer(.response(200))
        let transport = CurlTransport()
        var good = TransferOptions.limited
        good.overrides = [TransferOptions.HostOverride(host: "h", address: "127.0.0.1")]
        var bad = good
        bad.local.interface = "a!b"
        for _ in 1...2 {
            #expect(try await transport.perform(server.request(options: good)).status == .ok)
            for _ in 1...2 {
                #expect(try await transport.failure(of: server.request(options: bad)).kind == .badConfiguration)
            }
        }
    }
}
