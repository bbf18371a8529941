package import BeagleNetHTTP
import Foundation
import Testing

/// The servers of `ws_peer.py`, by name.
package final class WebSocketPeer: Sendable {
    /// The instance that all tests share.
    package static let shared = Result { try WebSocketPeer() }

    /// The Python environment that `scripts/setup.sh --peers` creates, with PyPI's websockets.
    private static let python = Peer.path("../../.build/python/bin/python3")

    package static var isAvailable: Bool { FileManager.default.isExecutableFile(atPath: python) }

    package let ports: [String: Int]
    private let peer: Peer

    private init() throws {
        var ports: [String: Int] = [:]
        let command = "'\(Self.python)' '\(Peer.path("ws_peer.py"))' '\(Peer.path("Certificates"))'"
        peer = try Peer(command) { line in
            let words = line.split(separator: " ")
            if words.count == 2 { ports[String(words[0])] = Int(words[1]) }
        }
        self.ports = ports
    }

    /// The kind of connection to a server.
    package enum Way: String, CaseIterable, CustomTestStringConvertible {
        case plain
        case secure
        /// Through the proxy, to closed ports that only the proxy can map to the servers.
        case tunnel
        case secureTunnel

        package var isSecure: Bool { self == .secure || self == .secureTunnel }
        package var isTunnelled: Bool { self == .tunnel || self == .secureTunnel }
        package var testDescription: String { rawValue }
    }

    /// Makes a request to one of the servers of PyPI's websockets, or to the raw server, which sends given bytes.
    package func request(_ way: Way, _ path: String, isRaw: Bool = false) -> WebSocket.Request {
        let name = way.isSecure ? isRaw ? "secure-raw" : "secure" : isRaw ? "raw" : "plain"
        var request = request(name, path)
        request.head.scheme = way.isSecure ? "wss" : "ws"
        if way.isTunnelled {
            request.head.authority = isRaw ? way.isSecure ? "localhost:444" : "localhost:81" : "localhost"
            request.options.proxy = .through(Proxy(.http, host: "127.0.0.1", port: ports["proxy"] ?? 0))
        }
        return request
    }

    /// Makes a request to one of the servers, over TLS if it is `secure`.
    package func request(_ name: String = "plain", _ path: String, _ fields: HTTPFields = [:]) -> WebSocket.Request {
        let scheme = name == "secure" ? "wss" : "ws"
        let authority = "localhost:\(ports[name] ?? 0)"
        let head = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path, headerFields: fields)
        var options = TransferOptions.limited
        options.trust = .tests
        return WebSocket.Request(head, options: options)
    }
}
