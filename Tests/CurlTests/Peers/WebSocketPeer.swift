import BeagleNetHTTP
import Foundation

/// The servers of `ws_peer.py`, by name.
final class WebSocketPeer: Sendable {
    /// One for all tests.
    static let shared = Result { try WebSocketPeer() }

    /// The Python that `scripts/setup.sh --peers` makes, with PyPI's websockets.
    private static let python = Peer.path("../../.build/python/bin/python3")

    static var isAvailable: Bool { FileManager.default.isExecutableFile(atPath: python) }

    let ports: [String: Int]
    private let peer: Peer

    private init() throws {
        var ports: [String: Int] = [:]
        let command = "'\(Self.python)' '\(Peer.path("Peers/ws_peer.py"))' '\(Peer.path("Certificates"))'"
        peer = try Peer(command) { line in
            let words = line.split(separator: " ")
            if words.count == 2 { ports[String(words[0])] = Int(words[1]) }
        }
        self.ports = ports
    }

    /// A WebSocket at one of the servers; on `secure` over TLS.
    func request(_ name: String = "plain", _ path: String, _ fields: HTTPFields = [:]) -> WebSocketRequest {
        let scheme = name == "secure" ? "wss" : "ws"
        let authority = "localhost:\(ports[name] ?? 0)"
        let head = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path, headerFields: fields)
        var options = TransferOptions.impatient
        options.trust = .tests
        return WebSocketRequest(head, options: options)
    }
}
