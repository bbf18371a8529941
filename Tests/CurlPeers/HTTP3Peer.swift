package import BeagleNetHTTP

/// The servers of `h3_peer.py`, by name.
package final class HTTP3Peer: Sendable {
    /// The instance that all tests share.
    package static let shared = Result { try HTTP3Peer() }

    package let ports: [String: Int]
    private let peer: Peer

    /// Starts separate servers, for tests that depend on the servers' state. Other tests use `shared`.
    package init() throws {
        var ports: [String: Int] = [:]
        let command = "python3 '\(Peer.path("h3_peer.py"))' '\(Peer.path("Certificates"))' 2> /dev/null"
        peer = try Peer(command) { line in
            let words = line.split(separator: " ")
            if words.count == 2 { ports[String(words[0])] = Int(words[1]) }
        }
        self.ports = ports
    }

    package func authority(_ name: String) -> String { "localhost:\(ports[name] ?? 0)" }

    /// Makes a request to one of the servers, over HTTP/3 by default.
    package func request(
        _ path: String,
        _ method: HTTPRequest.Method = .get,
        at name: String = "h3",
        version: HTTPVersion = .http3,
        body: HTTPBody? = nil,
        delivery: TransferRequest.Delivery = .collect
    ) -> TransferRequest {
        var options = TransferOptions.limited
        options.trust = .tests
        options.version = version
        let head = HTTPRequest(method: method, scheme: "https", authority: authority(name), path: path)
        return TransferRequest(head, body: body, options: options, delivery: delivery)
    }
}
