import BeagleNetHTTP
import CurlPeers
import Foundation
import Testing

@testable import beagle

/// Proxies of the environment that require credentials, in front of nginx.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(
        if: ProxyPeer.isAvailable && NginxPeer.isAvailable,
        "tinyproxy, squid, microsocks, danted or nginx missing"
    )
)
struct ProxyEnvironmentTests {
    private let proxies: ProxyPeer
    private let ports: NginxPeer.Ports

    init() throws {
        proxies = try ProxyPeer.shared.get()
        ports = try NginxPeer.shared.get().ports
    }

    private func run(_ url: String, _ environment: [String: String]) async throws -> BeagleProcess.Outcome {
        let names = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"]
        let none = names.flatMap { [($0, ""), ($0.uppercased(), "")] }
        return try await BeagleProcess(
            ["raw", url, "--cacert", Peer.path("Certificates/ca.pem"), "-v"],
            environment: Dictionary(uniqueKeysWithValues: none).merging(environment) { $1 }
        ).outcome()
    }

    private func url(of proxy: Proxy, password: String? = nil) throws -> String {
        let credentials = try #require(proxy.credentials)
        let userinfo = "\(credentials.user):\(password ?? credentials.password)"
        return "\(proxy.scheme.rawValue)://\(userinfo)@\(proxy.host):\(proxy.port)"
    }

    /// Expects success over a new connection to this port.
    private func expectWay(_ run: BeagleProcess.Outcome, to port: Int, _ body: String) {
        #expect(run.exit == 0, "\(run.errors)")
        #expect(run.text.hasSuffix(body))
        #expect(run.errors.contains("127.0.0.1:\(port) · new connection"), "\(run.errors)")
    }

    @Test(arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
    func secureRequestsUseATunnelOfTheProxy(_ name: String) async throws {
        let url = "https://localhost:\(ports.secure)/"
        let run = try await run(url, [name: self.url(of: proxies.plain)])
        expectWay(run, to: proxies.plain.port, "HTTP/2.0 /")
        #expect(!run.errors.contains("S3same"))

        let refused = try await self.run(url, [name: self.url(of: proxies.plain, password: "wr0ng")])
        #expect(refused.exit == 56)
        #expect(refused.errors.contains("CONNECT tunnel failed"), "\(refused.errors)")
        #expect(refused.errors.contains("check the proxy that is set in http_proxy, https_proxy or all_proxy"))
        #expect(!refused.errors.contains("wr0ng"))
    }

    @Test(arguments: ["http_proxy", "all_proxy", "ALL_PROXY"])
    func plainRequestsUseTheProxy(_ name: String) async throws {
        let url = "http://127.0.0.1:\(ports.simple)/a"
        expectWay(try await run(url, [name: self.url(of: proxies.plain)]), to: proxies.plain.port, "/a")
        #expect(try await run(url, [name: self.url(of: proxies.plain, password: "wr0ng")]).exit == 22)
    }

    @Test func allProxyMayBeASOCKSProxy() async throws {
        for url in ["http://127.0.0.1:\(ports.simple)/", "https://127.0.0.1:\(ports.secure)/"] {
            let run = try await run(url, ["ALL_PROXY": self.url(of: proxies.socks5)])
            expectWay(run, to: proxies.socks5.port, "/")
            let refused = try await self.run(url, ["ALL_PROXY": self.url(of: proxies.socks5, password: "wr0ng")])
            #expect(refused.exit == 97, "\(refused.errors)")
        }
    }

    /// A client could set `HTTP_PROXY` in a CGI program with a field `Proxy`.
    @Test func upperCaseHTTPProxyIsIgnored() async throws {
        let run = try await run("http://127.0.0.1:\(ports.simple)/a", ["HTTP_PROXY": "http://127.0.0.1:1"])
        expectWay(run, to: Int(ports.simple), "/a")
    }

    @Test(arguments: ["no_proxy", "NO_PROXY"]) func exceptionsBypassTheProxy(_ name: String) async throws {
        let url = "https://localhost:\(ports.secure)/"
        for hosts in ["localhost", "example.org, localhost", "*"] {
            let run = try await run(url, ["HTTPS_PROXY": "http://127.0.0.1:1", name: hosts])
            expectWay(run, to: Int(ports.secure), "HTTP/2.0 /")
        }
        for hosts in ["example.org", "host"] {
            #expect(try await run(url, ["HTTPS_PROXY": "http://127.0.0.1:1", name: hosts]).exit == 7)
        }
    }
}
