import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import Testing

@testable import beagle

struct ConnectionFlagsTests {
    @Test func versionListsTheFeaturesOfLibcurl() async throws {
        let run = try await beagle("--version")
        let capabilities = CurlTransport.capabilities
        #expect(run.exit == 0)
        let libcurl = "libcurl \(capabilities.version) with \(capabilities.tls)"
        #expect(run.lines.prefix(2) == ["beagle \(beagleNetVersion)", libcurl])
        #expect(run.lines.contains { $0.hasPrefix("has ") && $0.contains("HTTP/2") })
        for (feature, provider) in capabilities.missing {
            #expect(run.lines.contains("lacks \(feature.rawValue): requires \(provider)"))
        }
    }

    @Test func proxyReceivesItsOwnHeadersAndCredentials() async throws {
        let proxy = try LoopbackServer(.response(200, [:], "from the proxy"))
        let run = try await beagle(
            "raw",
            "http://host.invalid/a",
            "-x",
            proxy.authority,
            "-U",
            "me:s3same",
            "--proxy-header",
            "X-One: 1"
        )
        #expect(run.text == "from the proxy")
        let request = try #require(proxy.requests.first)
        #expect(request.target == "http://host.invalid/a")
        #expect(request["Proxy-Authorization"] == "Basic bWU6czNzYW1l")
        #expect(request["X-One"] == "1")
    }

    @Test(arguments: [["-x", ""], ["--noproxy", "*"], ["-x", "http://127.0.0.1:1", "--noproxy", "127.0.0.0/8"]])
    func flagsOverrideTheProxyOfTheEnvironment(_ flags: [String]) async throws {
        let server = try LoopbackServer(.response(200, [:], "from the server"))
        let environment = ["http_proxy": "http://127.0.0.1:1", "no_proxy": ""]
        let run = try await BeagleProcess(["raw", server.url] + flags, environment: environment).outcome()
        #expect(run.text == "from the server")
    }

    private static let noproxyFlagReplacesTheExceptionsOfTheEnvironmentArguments: [(String, String, String)] = [
        ("127.0.0.0/8", "other.example", "server"), ("other.example", "127.0.0.1", "proxy"), ("", "*", "proxy"),
        ("other.example, 127.0.0.1", "", "server"), ("other.example 127.0.0.1", "", "server"),
    ]

    @Test(arguments: Self.noproxyFlagReplacesTheExceptionsOfTheEnvironmentArguments)
    func noproxyFlagReplacesTheExceptionsOfTheEnvironment(_ flag: String, _ variable: String, _ answer: String)
        async throws
    {
        let proxy = try LoopbackServer(.response(200, [:], "from the proxy"))
        let server = try LoopbackServer(.response(200, [:], "from the server"))
        let environment = ["http_proxy": proxy.url, "no_proxy": variable, "NO_PROXY": ""]
        let run = try await BeagleProcess(["raw", server.url, "--noproxy", flag], environment: environment).outcome()
        #expect(run.text == "from the \(answer)", "\(run.errors)")
    }

    @Test func noproxyFlagIsAllowedWithoutAProxy() async throws {
        let server = try LoopbackServer(.response(200, [:], "from the server"))
        let none = ["http_proxy": "", "all_proxy": "", "ALL_PROXY": ""]
        let run = try await BeagleProcess(["raw", server.url, "--noproxy", "other.example"], environment: none)
            .outcome()
        #expect(run.text == "from the server", "\(run.errors)")
    }

    private static let networksOfTheEnvironmentBypassTheProxyArguments: [(String, Int32)] = [
        ("::1/64", 0), ("::/0", 0), ("other.example ::1/128", 0), ("fd00::/8", 7),
    ]

    /// An IPv4 address stands in for the IPv6 address.
    @Test(arguments: Self.networksOfTheEnvironmentBypassTheProxyArguments)
    func networksOfTheEnvironmentBypassTheProxy(_ exceptions: String, _ exit: Int32) async throws {
        let server = try LoopbackServer(.response(200, [:], "from the server"))
        let url = "http://[::1]:\(server.port)/"
        let environment = ["http_proxy": "http://127.0.0.1:1", "no_proxy": "", "NO_PROXY": exceptions]
        let flags = ["--resolve", "[::1]:\(server.port):127.0.0.1"]
        let run = try await BeagleProcess(["raw", url] + flags, environment: environment).outcome()
        #expect(run.exit == exit, "\(run.errors)")
    }

    @Test func resolveFlagOverridesTheAddress() async throws {
        let server = try LoopbackServer(.response(200, [:], "here"))
        let url = "http://host.invalid:\(server.port)/"
        #expect(try await beagle("raw", url, "--resolve", "host.invalid:\(server.port):127.0.0.1").text == "here")
        #expect(try await beagle("raw", url, "-4", "--resolve", "*:\(server.port):[127.0.0.1]").text == "here")
    }

    @Test func compressionIsRequestedUnlessDisabled() async throws {
        let server = try LoopbackServer(.response(200))
        _ = try await beagle("raw", server.url, "--no-compressed")
        _ = try await beagle("raw", server.url, "--compressed")
        #expect(server.requests.map { $0["Accept-Encoding"] != nil } == [false, true])
    }

    private static let invalidFlagIsNamedArguments: [([String], String)] = [
        (["-x", "ftp://proxy"], "--proxy: its URL has the unsupported scheme ftp"),
        (["-x", "http://me:s3same@"], "--proxy: its URL is malformed or has no host"),
        (["-U", "me:s3same"], "--proxy"), (["-x", "proxy", "-U", "me"], "'--proxy-user' must be"),
        (["-p"], "--proxy"), (["--key", "a"], "require '--cert'"),
        (["--cert", "a", "--cert-type", "p12", "--key", "a"], "--cert-type"), (["--cert-type", "der"], "--cert-type"),
        (["--pinned", "sha256//a"], "--pinned: a pin is not a SHA-256 digest"), (["--pinned", ""], "--pinned"),
        (["--resolve", "a:b"], "--resolve: must be HOST:PORT:ADDRESS"), (["--resolve", "a:80:1,2"], "one address"),
        (["--local-port", "9-8"], "--local-port"), (["-4", "-6"], "together"), (["--http2", "--http3"], "together"),
    ]

    @Test(arguments: Self.invalidFlagIsNamedArguments)
    func invalidFlagIsNamed(_ flags: [String], _ message: String) async throws {
        let run = try await beagle(["raw", "http://127.0.0.1:1"] + flags)
        #expect(run.exit == 64)
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(!run.errors.contains("s3same"))
    }

    private static let unusableValueIsReportedWithItsFlagArguments: [([String], Int32, String)] = [
        (["--cert", "/nowhere/a.pem"], 58, "--cert: cannot read /nowhere/a.pem"),
        (["--resolve", "a:80:name"], 43, "--resolve: an address is neither"),
        (["--unix-socket", "/nowhere/socket"], 7, ""), (["--interface", "nosuch0"], 45, "nosuch0"),
        (["-x", "socks5://proxy", "--proxy-header", "A: b"], 43, "--proxy: header fields"),
        (["-x", "https://proxy", "--proxy-cacert", "/nowhere/ca.pem"], 77, "cannot read /nowhere/ca.pem"),
        (["-x", "http://127.0.0.1:1"], 7, "the proxy http://127.0.0.1:1"),
    ]

    @Test(arguments: Self.unusableValueIsReportedWithItsFlagArguments)
    func unusableValueIsReportedWithItsFlag(
        _ flags: [String],
        _ exit: Int32,
        _ message: String
    ) async throws {
        let server = try LoopbackServer(.response(200))
        let run = try await beagle(["raw", server.url] + flags)
        #expect(run.exit == exit, "\(run.errors)")
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(!run.errors.contains("TransferOptions"), "\(run.errors)")
        #expect(server.requests.isEmpty)
    }

    @Test func missingFeatureOfLibcurlIsReported() async throws {
        guard !CurlTransport.capabilities.contains(.http3) else { return }
        let run = try await beagle("raw", "https://127.0.0.1:1", "--http3")
        #expect(run.exit == 4)
        #expect(run.errors.contains("--http3: libcurl \(CurlTransport.capabilities.version)"))
    }
}
