package import BeagleNetHTTP
import BeagleNetTesting

/// Four proxies: tinyproxy and squid for HTTP and HTTP over TLS, microsocks and dante for SOCKS 5 and 4.
package final class ProxyPeer: Sendable {
    /// The instance that all tests share.
    package static let shared = Result { try ProxyPeer() }

    package static var isAvailable: Bool {
        ["tinyproxy", "squid", "microsocks", "danted"].allSatisfy(Peer.isInstalled)
    }

    /// The credentials that tinyproxy and microsocks accept.
    package static let credentials = Credentials(user: "beagle", password: "openS3same")

    /// An HTTP proxy that requires the credentials.
    package let plain: Proxy
    /// An HTTPS proxy with the certificate of the tests' "good" server.
    package let secure: Proxy
    /// A SOCKS 5 proxy that requires the credentials.
    package let socks5: Proxy
    /// A SOCKS 4 and 5 proxy without authentication.
    package let socks4: Proxy
    private let peer: Peer

    private init() throws {
        // A port that was free a moment ago may be in use when a proxy binds it.
        var attempt = 1
        while true {
            let servers = try (1...4).map { _ in try LoopbackServer(.close) }
            for server in servers { server.stop() }
            let ports = servers.map { Int($0.port) }
            do {
                peer = try Peer(Self.command(ports), files: Self.configurations(ports))
            } catch  where attempt < 5 {
                attempt += 1
                continue
            }
            plain = Proxy(.http, host: "127.0.0.1", port: ports[0], credentials: Self.credentials)
            var secure = Proxy(.https, host: "localhost", port: ports[1])
            secure.trust = .tests
            self.secure = secure
            socks5 = Proxy(.socks5, host: "127.0.0.1", port: ports[2], credentials: Self.credentials)
            socks4 = Proxy(.socks4, host: "127.0.0.1", port: ports[3])
            return
        }
    }

    /// Waits until all proxies listen, and fails if one of them ends before.
    private static func command(_ ports: [Int]) -> String {
        let listening = ports.map { ":\(String($0, radix: 16, uppercase: true).leftPadded) 00000000:0000 0A" }
        return """
            cp \(Peer.path("Certificates/good.pem")) \(Peer.path("Certificates/good.key.pem")) . && chmod 644 *.pem
            ended() { kill $all 2>/dev/null; wait; }
            tinyproxy -d -c tinyproxy.conf >/dev/null 2>&1 & all=$!
            squid -N -f squid.conf >/dev/null 2>&1 & all="$all $!"
            microsocks -i 127.0.0.1 -p \(ports[2]) -u '\(credentials.user)' -P '\(credentials.password)' >/dev/null 2>&1 &
            all="$all $!"
            danted -f danted.conf >/dev/null 2>&1 & all="$all $!"
            for port in \(listening.map { "'\($0)'" }.joined(separator: " ")); do
                until grep -q "$port" /proc/net/tcp; do
                    for each in $all; do kill -0 $each || { ended; exit 1; }; done
                    sleep 0.05
                done
            done
            echo ready && cat > /dev/null
            ended
            """
    }

    private static func configurations(_ ports: [Int]) -> [String: String] {
        [
            "tinyproxy.conf": """
            Port \(ports[0])
            Listen 127.0.0.1
            Timeout 60
            MaxClients 100
            BasicAuth \(credentials.user) \(credentials.password)
            """,
            "squid.conf": """
            https_port 127.0.0.1:\(ports[1]) tls-cert=good.pem tls-key=good.key.pem
            http_access allow all
            cache deny all
            cache_mem 0
            access_log none
            cache_log /dev/null
            cache_store_log none
            pid_filename none
            pinger_enable off
            max_filedescriptors 1024
            shutdown_lifetime 0 seconds
            """,
            "danted.conf": """
            logoutput: danted.log
            internal: 127.0.0.1 port = \(ports[3])
            external: lo
            clientmethod: none
            socksmethod: none
            user.privileged: root
            user.unprivileged: nobody
            client pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
            socks pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
            """,
        ]
    }
}

extension String {
    /// The string padded to four digits with zeros.
    fileprivate var leftPadded: String { String(repeating: "0", count: max(0, 4 - count)) + self }
}
