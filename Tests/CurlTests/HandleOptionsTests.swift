import BeagleNetHTTP
import CBeagleNetCurl
import Testing

@testable import BeagleNetCurl

/// The libcurl options of a request, as values: nothing is sent.
struct HandleOptionsTests {
    typealias Setting = HandleOptions.Setting

    /// A request, and its options beyond those of a plain GET to the same origin.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var scheme = "https"
        var host = "a.test"
        var change: @Sendable (inout TransferRequest) throws -> Void = { _ in }
        var context: @Sendable (inout HandleOptions.Context) -> Void = { _ in }
        var wholeURL: String?
        let added: [Setting]
    }

    private static func options(
        _ scheme: String,
        _ host: String = "a.test",
        _ change: (inout TransferRequest) throws -> Void = { _ in },
        _ adapt: (inout HandleOptions.Context) -> Void = { _ in }
    ) throws -> HandleOptions {
        var request = TransferRequest(HTTPRequest(method: .get, scheme: scheme, authority: host, path: "/x?y"))
        try change(&request)
        let message = Message(request)
        var origins = ParsedOriginCache()
        var context = HandleOptions.Context(origin: try origins.origin(of: message))
        adapt(&context)
        return HandleOptions.options(for: message, in: context)
    }

    private static let unlimited = Setting.long(.connectTimeout, Int(Int32.max))
    private static let automatic = Setting.long(.httpVersion, Int(CURL_HTTP_VERSION_2TLS))
    private static let http1 = Setting.long(.httpVersion, Int(CURL_HTTP_VERSION_1_1))
    private static let unshared = [http1, .long(.freshConnect, 1), .long(.forbidReuse, 1)]

    @Test func plainRequestsHaveFewOptions() throws {
        let plain = [Self.unlimited, Self.automatic]
        let tls = [
            .long(.sslVersion, Int(CURL_SSLVERSION_TLSv1_2)), Setting.string(.caFile, TrustStore.systemFile),
            .string(.caPath, nil),
        ]
        #expect(try Self.options("http").all == plain)
        #expect(try Self.options("https").all == plain + tls)
        #expect(try Self.options("https").wholeURL == nil)
    }

    @Test(arguments: message + connection + tls + proxy) func optionsDependOnMessageAndContext(_ row: Row) throws {
        let plain = try Self.options(row.scheme, row.host)
        let options = try Self.options(row.scheme, row.host, row.change, row.context)
        #expect(options.all.filter { !plain.all.contains($0) } == row.added)
        #expect(options.wholeURL == row.wholeURL)
    }

    private static let message = [
        Row(testDescription: "HEAD", change: { $0.head.method = .head }, added: [.long(.noBody, 1)]),
        Row(testDescription: "DELETE", change: { $0.head.method = .delete }, added: [.string(.method, "DELETE")]),
        Row(
            testDescription: "POST of unknown length",
            change: {
                $0.head.method = .post
                $0.body = HTTPBody("x")
            },
            added: [.long(.upload, 1), .offset(.uploadSize, -1), .string(.method, "POST")]
        ),
        Row(
            testDescription: "POST that expects 100",
            change: {
                $0.head.method = .post
                $0.body = HTTPBody("x")
                $0.options.expect = .ask(from: 0, timeout: .seconds(2))
            },
            context: { $0.uploadLength = 1 },
            added: [
                .long(.upload, 1), .offset(.uploadSize, 1), .string(.method, "POST"), .long(.expectTimeout, 2_000),
            ]
        ),
        Row(testDescription: "HTTP/1.1", change: { $0.options.version = .http1 }, added: [http1]),
        Row(
            testDescription: "HTTP/2 without TLS and a stream",
            scheme: "http",
            change: {
                $0.options.version = .http2
                $0.delivery = .stream
            },
            added: [.long(.httpVersion, Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))]
                + (HandleOptions.losesPriorKnowledge ? unshared.dropFirst() : [])
        ),
        Row(
            testDescription: "stream without TLS",
            scheme: "http",
            change: { $0.delivery = .stream },
            added: [.long(.bufferSize, 65_536)]
        ),
        Row(testDescription: "stream with TLS", change: { $0.delivery = .stream }, added: []),
        Row(
            testDescription: "long-lived stream",
            scheme: "http",
            change: { $0.delivery = .stream },
            context: { $0.isLongLived = true },
            added: []
        ),
        Row(
            testDescription: "limited rates",
            change: { $0.options.bandwidth = .init(receive: 5_000, send: 7_000) },
            context: { $0.receiveLimit = 5_000 },
            added: [.long(.bufferSize, 5_000), .offset(.sendRate, 7_000)]
        ),
    ]

    private static let connection = [
        Row(
            testDescription: "limited connecting on a new connection",
            context: {
                $0.connectLimit = .milliseconds(1_500)
                $0.isFresh = true
                $0.waitsForMultiplexing = true
            },
            added: [.long(.connectTimeout, 1_500), .long(.pipeWait, 1), .long(.freshConnect, 1)]
        ),
        Row(
            testDescription: "HTTP/3 alternative at another host",
            context: { $0.alternative = alternative(.http3, host: "b.test") },
            added: [.long(.httpVersion, 31), .list(.overrides, [:], lines: ["::b.test:443"])]
        ),
        Row(
            testDescription: "HTTP/3 alternative at the origin",
            context: { $0.alternative = alternative(.http3, host: "a.test") },
            added: [.long(.httpVersion, Int(CURL_HTTP_VERSION_3))]
        ),
        Row(
            testDescription: "WebSocket",
            context: { $0.isWebSocket = true },
            added: [.long(.freshConnect, 1), .long(.connectOnly, 1), .long(.tunnelsEverything, 1)]
        ),
        Row(
            testDescription: "Unix socket",
            change: { $0.options.unixSocket = "/run/s" },
            added: [.string(.unixSocket, "/run/s")]
        ),
        Row(
            testDescription: "local end and IP version",
            change: {
                $0.options.ipVersion = .v6
                $0.options.local = .init(interface: "lo", ports: 4_000...4_009)
            },
            added: [
                .long(.ipVersion, Int(CURL_IPRESOLVE_V6)), .string(.interface, "lo"), .long(.localPort, 4_000),
                .long(.localPortCount, 10),
            ]
        ),
        Row(
            testDescription: "overrides",
            change: {
                $0.options.overrides = [
                    .init(host: "*", address: "::1"),
                    .init(host: "a.test", port: 443, address: "10.0.0.1", addressPort: 8_443),
                ]
            },
            added: [.list(.overrides, [:], lines: ["::[::1]:", "a.test:443:10.0.0.1:8443"])]
        ),
    ]

    private static let tls = [
        Row(
            testDescription: "pins, ciphers and TLS 1.3",
            change: {
                $0.options.minimumTLS = .tls13
                $0.options.pins = [try TLS.PublicKeyPin(pin)]
                $0.options.ciphers = .init(tls12: ["A", "B"], tls13: ["C"])
            },
            added: [
                .long(.sslVersion, Int(CURL_SSLVERSION_TLSv1_3)), .string(.pins, pin),
                .string(.ciphers, "A:B"), .string(.ciphersOfTLS13, "C"),
            ]
        ),
        Row(
            testDescription: "own authorities",
            change: { $0.options.trust = .authorities(Data("ca".utf8)) },
            added: [.blob(.authorities, Data("ca".utf8)), .string(.caFile, nil)]
        ),
        Row(
            testDescription: "trust of the system and early data",
            change: {
                $0.options.trust = .native
                $0.options.usesEarlyData = true
            },
            added: [.long(.sslOptions, Int(CURLSSLOPT_NATIVE_CA) | 1 << 6)]
        ),
        Row(
            testDescription: "no early data for a message with effects",
            change: {
                $0.head.method = .delete
                $0.options.usesEarlyData = true
            },
            added: [.string(.method, "DELETE")]
        ),
        Row(
            testDescription: "identity as spelled by the registry",
            change: { $0.options.identity = .init(certificatePath: "/c", keyPath: "/k") },
            context: { $0.certificate = .file(path: "/./c") },
            added: [.string(.certificate, "/./c"), .string(.key, "/k"), .string(.passphrase, "")]
        ),
        Row(
            testDescription: "identity that doesn't share connections",
            change: { $0.options.identity = .init(pkcs12: Data("p".utf8), passphrase: "s") },
            context: { $0.isShared = false },
            added: [
                http1, .blob(.certificate, Data("p".utf8)), .string(.certificateForm, "P12"),
                .string(.passphrase, "s"), .long(.freshConnect, 1), .long(.forbidReuse, 1),
            ]
        ),
    ]

    private static let proxy = [
        Row(
            testDescription: "http through a proxy with credentials and fields",
            scheme: "http",
            change: {
                var proxy = Proxy(.http, host: "p.test", port: 80, credentials: .init(user: "u", password: "w"))
                proxy.fields[.via] = "v"
                proxy.exceptions = ["b.test", "c.test"]
                $0.options.proxy = .through(proxy)
            },
            wholeURL: "http://a.test/x?y",
            added: [
                .string(.proxy, "http://p.test:80"), .string(.proxyExceptions, "b.test,c.test"),
                .string(.proxyUser, "u"), .string(.proxyPassword, "w"), .long(.proxyFieldsApart, 1),
                .list(.proxyFields, [.via: "v"], lines: []),
            ]
        ),
        Row(
            testDescription: "https through a proxy with TLS, whose tunnels it doesn't share",
            change: {
                var proxy = Proxy(.https, host: "p.test", port: 443)
                proxy.trust = .file(path: "/ca")
                $0.options.proxy = .through(proxy)
            },
            context: { $0.isShared = false },
            added: unshared + [
                .string(.proxy, "https://p.test:443"), .string(.proxyExceptions, ""), .long(.proxyFieldsApart, 1),
                .long(.proxySSLVersion, Int(CURL_SSLVERSION_TLSv1_2)), .string(.proxyCAFile, "/ca"),
                .string(.proxyCAPath, nil),
            ]
        ),
        Row(
            testDescription: "http with a proxy of the environment",
            scheme: "http",
            context: { $0.proxies.isDefined = true },
            wholeURL: "http://a.test/x?y",
            added: []
        ),
        Row(
            testDescription: "address that the environment excludes from its proxy",
            scheme: "http",
            host: "10.0.0.1",
            context: { $0.proxies = ProxyEnvironment(isDefined: true, exceptions: excluded) },
            added: [.string(.proxy, "")]
        ),
        Row(
            testDescription: "no proxy at addresses that a guard checks",
            change: {
                $0.options.proxy = .environmentExcept(["b.test"])
                $0.options.addressGuard = .publicOnly
            },
            added: [.string(.proxyExceptions, "*")]
        ),
        Row(testDescription: "direct", change: { $0.options.proxy = .direct }, added: [.string(.proxy, "")]),
    ]

    private static func alternative(_ version: HTTPVersion, host: String) -> AltSvcStore.Service {
        AltSvcStore.Service(for: Origin(scheme: "https", host: "a.test", port: 443), version, host: host)
    }

    private static let pin = "sha256//\(Data(count: 32).base64EncodedString())"
    private static let excluded = ["10.0.0.0/8"].compactMap { IPNetwork($0) }

    @Test func transportsShareOptionsThatDifferFromTheDefaults() {
        var configuration = CurlTransport.Configuration()
        #expect(HandleOptions.shared(configuration, ProxyEnvironment(isDefined: true)) == [])

        configuration.idleConnectionLifetime = .seconds(9)
        configuration.connectionLifetime = .milliseconds(7_500)
        configuration.happyEyeballsDelay = .milliseconds(30)
        configuration.keepAlive = .init(idle: .seconds(5), interval: .seconds(6))
        let own: [Setting] = [
            .string(.proxy, ""), .long(.maxIdleAge, 9), .long(.maxAge, 8), .long(.happyEyeballsDelay, 30),
            .long(.keepAlive, 1), .long(.keepAliveIdle, 5), .long(.keepAliveInterval, 6),
        ]
        #expect(HandleOptions.shared(configuration, ProxyEnvironment()) == own)
    }

    @Test(arguments: [
        (Setting.long(.maxAge, -1), "connectionLifetime" as String?), (.long(.sslVersion, 999), "out of memory"),
        (.long(.httpVersion, 999), nil), (.string(.caPath, nil), nil),
    ])
    func requiredOptionThatLibcurlRejectsIsAnError(_ setting: Setting, _ message: String?) throws {
        guard var easy = EasyHandle(FieldList([:], lines: [])) else {
            Issue.record("libcurl returned no handle")
            return
        }
        var rejection: NetworkError?
        do throws(NetworkError) { try easy.apply([setting]) } catch { rejection = error }
        #expect(rejection.map { $0.message.contains(message ?? "") } ?? (message == nil))
        #expect((rejection == nil) == (message == nil))
    }
}

extension HandleOptions {
    /// All options but the URL, in the order in which they are set.
    fileprivate var all: [Setting] {
        [.long(.connectTimeout, connectTimeout), .long(.httpVersion, httpVersion)]
            + (waitsForMultiplexing ? [.long(.pipeWait, 1)] : []) + settings
    }
}
