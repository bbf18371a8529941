package import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

/// nginx with HTTP/2 over TLS on one port, and without TLS on others.
package final class NginxPeer: Sendable {
    /// The instance that all tests share.
    package static let shared = Result { try NginxPeer() }

    package static var isAvailable: Bool { Peer.isInstalled("nginx") }

    package struct Ports: Sendable {
        /// HTTP/2 over TLS.
        package let secure: UInt16
        /// HTTP/2 without TLS.
        package let plain: UInt16
        /// HTTP/2 over TLS, with at most five requests on a connection.
        package let few: UInt16
        /// HTTP/1.1 without TLS.
        package let simple: UInt16
        /// HTTP/2 over TLS, with one stream at a time on a connection.
        package let single: UInt16
        /// HTTP/2 over TLS 1.2 and 1.3 with a required client certificate. Reports the client: see `Sight`.
        package let mutual: UInt16
        /// TLS 1.2 at most. Reports the client.
        package let old: UInt16
        /// HTTP/1.1 without TLS, on this port and on `socket`. Reports the client.
        package let seeing: UInt16
        /// HTTP/2 over TLS, as an alternative service of `secure`: see `Alternative`.
        package let alternative: UInt16
        /// A Unix socket.
        package let socket: String
    }

    /// A client as nginx sees it.
    package struct ObservedClient {
        package let address, port, tls, cipher, certificate, host, proxyCredentials: String

        package init(_ response: TransferResponse) async throws {
            try self.init(String(decoding: await response.body.collect(), as: UTF8.self))
        }

        package init(_ body: String) throws {
            let parts = body.split(separator: "|", omittingEmptySubsequences: false)
            try #require(parts.count == 7)
            (address, port, tls, cipher) = (String(parts[0]), String(parts[1]), String(parts[2]), String(parts[3]))
            (certificate, host, proxyCredentials) = (String(parts[4]), String(parts[5]), String(parts[6]))
        }
    }

    /// The server that responded, and the host that was requested.
    package struct Alternative: Equatable {
        package let port: UInt16?
        package let host, altUsed: String

        package init(port: UInt16?, host: String, altUsed: String) {
            (self.port, self.host, self.altUsed) = (port, host, altUsed)
        }
    }

    package let ports: Ports
    private let peer: Peer

    private init() throws {
        // A port that was free a moment ago may be in use when nginx binds it.
        var attempt = 1
        while true {
            let ports = try Self.freePorts()
            do {
                peer = try Peer(Self.command, files: ["nginx.conf": Self.configuration(ports)])
                self.ports = ports
                return
            } catch  where attempt < 5 {
                attempt += 1
            }
        }
    }

    /// Makes a request, by default to the secure port. It trusts only the tests' own authority.
    package func request(
        _ path: String,
        method: HTTPRequest.Method = .get,
        version: HTTPVersion = .automatic,
        port: any KeyPath<Ports, UInt16> & Sendable = \.secure,
        body: HTTPBody? = nil,
        delivery: TransferRequest.Delivery = .collect
    ) -> TransferRequest {
        var options = TransferOptions.limited
        options.trust = .tests
        options.version = version
        let head = HTTPRequest(
            method: method,
            scheme: [\Ports.plain, \Ports.simple, \Ports.seeing].contains(port) ? "http" : "https",
            authority: "localhost:\(ports[keyPath: port])",
            path: path
        )
        return TransferRequest(head, body: body, options: options, delivery: delivery)
    }

    private static func freePorts() throws -> Ports {
        let servers = try (1...9).map { _ in try LoopbackServer(.close) }
        for server in servers { server.stop() }
        return Ports(
            secure: servers[0].port,
            plain: servers[1].port,
            few: servers[2].port,
            simple: servers[3].port,
            single: servers[4].port,
            mutual: servers[5].port,
            old: servers[6].port,
            seeing: servers[7].port,
            alternative: servers[8].port,
            socket: "\(NSTemporaryDirectory())/\(UUID().uuidString).socket"
        )
    }

    private static let command = """
        mkdir files && head -c 16777216 /dev/zero > files/large &&
        nginx -p "$PWD" -c nginx.conf -e "$PWD/error.log" 2>/dev/null && echo ready && cat > /dev/null
        kill "$(cat nginx.pid)" && while [ -e nginx.pid ]; do sleep 0.01; done
        """

    private static func configuration(_ ports: Ports) -> String {
        """
        pid nginx.pid;
        user root;
        worker_processes 1;
        # nginx closes idle connections when few of these are left, which would break the tests of reuse.
        worker_rlimit_nofile 16384;
        events { worker_connections 8192; }
        http {
            access_log off;
            client_body_temp_path temp;
            client_max_body_size 64m;
            ssl_certificate \(Peer.path("Certificates/good.pem"));
            ssl_certificate_key \(Peer.path("Certificates/good.key.pem"));
            server {
                listen 127.0.0.1:\(ports.secure) ssl http2;
                listen 127.0.0.1:\(ports.plain) http2;
                # A cancelled stream counts until nginx has processed the cancellation. Above the limit nginx refuses
                # streams, and it closes a connection with many refused streams: a storm of cancels looks like an attack.
                http2_max_concurrent_streams 1024;
                location / { return 200 "$connection $server_protocol $request_uri"; }
                location /cookie { return 200 "$http_cookie"; }
                location /alternative {
                    add_header Alt-Svc 'h2="localhost:\(ports.alternative)"; ma=60';
                    return 200 "\(alternative)";
                }
                location /misdirected { return 200 "\(alternative)"; }
                location /tls { return 200 "$ssl_protocol $ssl_cipher"; }
                location /files/ { root .; dav_methods PUT; }
                location /hsts { add_header Strict-Transport-Security max-age=60; return 200; }
                location /gzip/ { rewrite ^/gzip/(.*) /files/$1 break; root .; add_header Content-Encoding gzip; }
            }
            server {
                listen 127.0.0.1:\(ports.alternative) ssl http2;
                location / { return 200 "\(alternative)"; }
                location /misdirected { return 421; }
                location /clear { add_header Alt-Svc clear; return 200 "\(alternative)"; }
            }
            server {
                listen 127.0.0.1:\(ports.few) ssl http2;
                keepalive_requests 5;
                return 200 "$connection $request_uri";
            }
            server {
                listen 127.0.0.1:\(ports.simple);
                return 200 "$request_uri";
            }
            server {
                listen 127.0.0.1:\(ports.single) ssl http2;
                http2_max_concurrent_streams 1;
                return 200 "$connection $request_uri";
            }
            server {
                listen 127.0.0.1:\(ports.mutual) ssl http2;
                ssl_client_certificate \(Peer.path("Certificates/ca.pem"));
                ssl_verify_client on;
                ssl_protocols TLSv1.2 TLSv1.3;
                return 200 "\(sight)";
            }
            server {
                listen 127.0.0.1:\(ports.old) ssl;
                ssl_protocols TLSv1.2;
                return 200 "\(sight)";
            }
            server {
                listen 127.0.0.1:\(ports.seeing);
                listen unix:\(ports.socket);
                return 200 "\(sight)";
            }
        }
        """
    }

    private static let alternative = "$server_port|$http_host|$http_alt_used"

    private static let sight =
        "$remote_addr|$remote_port|$ssl_protocol|$ssl_cipher|$ssl_client_s_dn|$http_host|$http_proxy_authorization"
}

extension NginxPeer.Alternative {
    package init(_ response: TransferResponse) async throws {
        let body = String(decoding: try await response.body.collect(), as: UTF8.self)
        let parts = body.split(separator: "|", omittingEmptySubsequences: false)
        try #require(parts.count == 3)
        self.init(port: UInt16(parts[0]), host: String(parts[1]), altUsed: String(parts[2]))
    }
}
