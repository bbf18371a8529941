package import BeagleNetHTTP

/// The servers of `tls_peer.py`, by name.
package final class TLSPeer: Sendable {
    /// The instance that all tests share.
    package static let shared = Result { try TLSPeer() }

    /// Python with its `ssl` module.
    package static var isAvailable: Bool { Peer.isInstalled("python3") }

    package let ports: [String: Int]
    private let peer: Peer

    private init() throws {
        var ports: [String: Int] = [:]
        let command = "python3 '\(Peer.path("tls_peer.py"))' '\(Peer.path("Certificates"))'"
        peer = try Peer(command) { line in
            let words = line.split(separator: " ")
            if words.count == 2 { ports[String(words[0])] = Int(words[1]) }
        }
        self.ports = ports
    }

    /// Makes a GET request to one of the servers. By default it trusts only the tests' own authority.
    package func request(
        _ name: String,
        _ path: String = "/",
        trust: TLS.Trust = .tests,
        host: String = "localhost"
    ) -> TransferRequest {
        var options = TransferOptions.limited
        options.trust = trust
        let authority = "\(host):\(ports[name] ?? 0)"
        return TransferRequest(
            HTTPRequest(method: .get, scheme: "https", authority: authority, path: path),
            options: options
        )
    }
}

extension TLS.Trust {
    /// Trust in the tests' own authority only.
    package static let tests = TLS.Trust.file(path: Peer.path("Certificates/ca.pem"))
}
