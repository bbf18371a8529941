@testable import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Alternative services of an origin (RFC 7838), with nginx on two ports.
@Suite(.leavesNothing, .timeLimit(.minutes(5)), .enabled(if: NginxPeer.isAvailable, "nginx is not installed"))
struct AlternativeTests {
    let store: AltSvcStore
    let transport: CurlTransport
    let peer: NginxPeer

    /// A long time limit, because a server on a busy machine may respond late.
    init() throws {
        store = AltSvcStore(connectTimeout: .seconds(30))
        var configuration = CurlTransport.Configuration()
        configuration.altSvc = store
        transport = CurlTransport(configuration)
        peer = try NginxPeer.shared.get()
    }

    private var origin: Origin { Origin(scheme: "https", host: "localhost", port: Int(peer.ports.secure)) }

    /// Stores an alternative service for nginx's secure port.
    private func name(_ port: UInt16, at host: String = "localhost") throws {
        store.removeAll()
        try store.add(AltSvcStore.Service(for: origin, host: host, port: Int(port)))
    }

    private func answer(
        _ path: String = "/alternative",
        by transport: CurlTransport? = nil,
        _ change: (inout TransferRequest) -> Void = { _ in }
    ) async throws -> NginxPeer.Alternative {
        var request = peer.request(path)
        change(&request)
        return try await NginxPeer.Alternative((transport ?? self.transport).perform(request))
    }

    private var ofOrigin: NginxPeer.Alternative {
        .init(port: peer.ports.secure, host: "localhost:\(peer.ports.secure)", altUsed: "")
    }

    private func ofAlternative(_ name: String = "localhost") -> NginxPeer.Alternative {
        let port = peer.ports.alternative
        return .init(port: port, host: "localhost:\(peer.ports.secure)", altUsed: "\(name):\(port)")
    }

    @Test func announcedAlternativeReceivesTheHostOfTheOrigin() async throws {
        #expect(try await answer() == ofOrigin)
        #expect(try await answer() == ofAlternative())
        let response = try await transport.perform(peer.request("/"))
        #expect(response.metrics.isConnectionReused && response.metrics.protocolName == "HTTP/2")
        #expect(response.metrics.remoteAddress == "127.0.0.1:\(peer.ports.alternative)")
        #expect(response.url == "https://localhost:\(peer.ports.secure)/")
        #expect(try await answer("/clear") == ofAlternative())
        #expect(try await answer("/misdirected") == ofOrigin)
    }

    @Test func originIsUsedWithoutAStore() async throws {
        let transport = CurlTransport()
        for _ in 0..<2 { #expect(try await answer(by: transport) == ofOrigin) }
    }

    @Test func concurrentRequestsShareConnectionsToTheAlternative() async throws {
        try name(peer.ports.alternative)
        let request = peer.request("/")
        let responses = try await withThrowingTaskGroup(of: TransferResponse.self) { group in
            for _ in 0..<32 { group.addTask { try await transport.perform(request) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for response in responses { #expect(try await NginxPeer.Alternative(response) == ofAlternative()) }
        #expect(responses.count { !$0.metrics.isConnectionReused } < 8)
    }

    @Test func altSvcFieldIsIgnoredWithoutTLS() async throws {
        let server = try LoopbackServer(.response(200, ["Alt-Svc": "h2=\":1\""]))
        _ = try await transport.perform(server.request())
        #expect(store.services.isEmpty)
    }

    // MARK: - Failing alternatives

    struct Failing: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var host = "localhost"
        let port: @Sendable (NginxPeer) throws -> UInt16
    }

    static let failing = [
        Failing(testDescription: "nobody listens") { _ in 1 },
        Failing(testDescription: "no such host", host: "nowhere.invalid") { _ in 443 },
        Failing(testDescription: "no HTTP/2") { $0.ports.old },
        Failing(testDescription: "no TLS") { $0.ports.simple },
        Failing(testDescription: "another's certificate") { _ in
            try UInt16(#require(TLSPeer.shared.get().ports["wrong-host"]))
        },
    ]

    @Test(arguments: failing, [false, true])
    func originIsUsedWhenTheAlternativeFails(_ failing: Failing, withBody: Bool) async throws {
        try name(failing.port(peer), at: failing.host)
        let answered = try await answer("/misdirected") {
            if withBody { ($0.head.method, $0.body) = (.post, HTTPBody("body")) }
        }
        #expect(answered == ofOrigin)
        #expect(transport.alternative(for: peer.request("/")) == nil)
    }

    @Test func failedAlternativeIsNotTriedAgain() async throws {
        let server = try LoopbackServer(onConnect: .close) { _ in .close }
        try name(server.port)
        for _ in 0..<3 { #expect(try await answer("/misdirected") == ofOrigin) }
        #expect(server.record.connections == 1)
    }

    @Test func silentAlternativeIsAbandoned() async throws {
        let server = try LoopbackServer(onConnect: .stall) { _ in .close }
        let store = AltSvcStore(connectTimeout: .milliseconds(200))
        try store.add(AltSvcStore.Service(for: origin, host: "localhost", port: Int(server.port)))
        var configuration = CurlTransport.Configuration()
        configuration.altSvc = store
        let transport = CurlTransport(configuration)
        #expect(try await answer("/misdirected", by: transport) { $0.options.timeouts.connect = nil } == ofOrigin)
        #expect(server.record.connections == 1)
    }

    @Test func alternativeIsAbandonedAfterTheTotalTimeout() async throws {
        let server = try LoopbackServer(onConnect: .stall) { _ in .close }
        try name(server.port)
        var request = peer.request("/misdirected")
        request.options.timeouts.total = .milliseconds(300)
        let error = try await transport.failure(of: request)
        #expect(error.isTimeout && error.advice?.contains("Timeouts.total") == true, "\(error)")
        #expect(try await answer("/misdirected") == ofOrigin)
    }

    @Test(arguments: [nil, HTTPBody("body")])
    func misdirectedAlternativeIsRemoved(_ body: HTTPBody?) async throws {
        try name(peer.ports.alternative)
        let response = try await transport.perform(peer.request("/misdirected", method: .post, body: body))
        #expect(response.metrics.hops.map(\.status) == [421])
        #expect(try await NginxPeer.Alternative(response) == ofOrigin)
        #expect(store.services.isEmpty)
    }

    // MARK: - Requests without an alternative

    @Test func alternativeAtABlockedAddressIsNotUsed() async throws {
        let judged = Lock<[String]>([])
        let addressGuard = TransferOptions.AddressGuard.custom { address, _ in
            judged.withLock { $0.append("\(address)") }
            return address == IPAddress("127.0.0.1")
        }
        try name(peer.ports.alternative, at: "127.0.0.2")
        #expect(try await answer("/misdirected") { $0.options.addressGuard = addressGuard } == ofOrigin)
        #expect(judged.withLock { $0 }.first == "127.0.0.2")
    }

    @Test func requestOptionsTakePrecedenceOverTheAlternative() throws {
        try name(peer.ports.alternative)
        func asks(_ change: (inout TransferOptions) throws -> Void) rethrows -> Bool {
            var request = peer.request("/")
            try change(&request.options)
            return transport.alternative(for: request) != nil
        }
        #expect(asks { _ in })
        #expect(asks { $0.version = .http2 })
        #expect(asks { $0.proxy = .direct })
        #expect(!asks { $0.version = .http1 })
        #expect(!asks { $0.proxy = .through(Proxy(.http, host: "h", port: 1)) })
        #expect(!asks { $0.unixSocket = "/socket" })
        #expect(!asks { $0.overrides = [TransferOptions.HostOverride(host: "h", address: "127.0.0.1")] })
    }

    @Test func appsResolverLooksUpTheAlternative() async throws {
        let hosts = Lock<[String]>([])
        let address = try #require(IPAddress("127.0.0.1"))
        var configuration = CurlTransport.Configuration()
        configuration.altSvc = store
        configuration.resolver = { host, port in
            hosts.withLock { $0.append("\(host):\(port)") }
            guard host != "gone.test" else { throw NetworkError(.dns, during: .resolve, "gone") }
            return [address]
        }
        let transport = CurlTransport(configuration)
        try name(peer.ports.alternative, at: "other.test")
        #expect(try await answer(by: transport) == ofAlternative("other.test"))
        try name(peer.ports.alternative, at: "gone.test")
        #expect(try await answer("/misdirected", by: transport) == ofOrigin)
        #expect(hosts.withLock { $0 }.map { $0.prefix { $0 != ":" } } == ["other.test", "gone.test", "localhost"])
    }

    @Test func networkChangeRemovesAlternatives() async throws {
        let (changes, continuation) = AsyncStream<Void>.makeStream()
        var configuration = CurlTransport.Configuration()
        configuration.altSvc = store
        configuration.networkChanges = changes
        let transport = CurlTransport(configuration)
        try name(peer.ports.alternative)
        let (watched, watcher) = (store, peer.request("/"))
        continuation.yield()
        while !watched.services.isEmpty { await Task.yield() }
        #expect(transport.alternative(for: watcher) == nil)
    }

    @Test func dryRunIncludesTheAltUsedField() throws {
        try name(peer.ports.alternative)
        var configuration = CurlTransport.Configuration()
        configuration.altSvc = store
        let fields = try CurlTransport.wireFields(of: peer.request("/"), configuration)
        #expect(fields.contains { $0.name.rawName == "Alt-Used" && $0.value == "localhost:\(peer.ports.alternative)" })
    }
}

extension CurlTransport {
    /// Returns the alternative service that a request would use now, instead of its origin.
    fileprivate func alternative(for request: TransferRequest) -> AltSvcStore.Service? {
        ClientStores(configuration)?.alternative(for: request)
    }
}
