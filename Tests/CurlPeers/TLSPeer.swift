package import BeagleNetHTTP

/// The servers of `tls_peer.py`, by name.
package final class TLSPeer: Sendable {
    /// One for all tests.
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

    /// A GET of one of the servers, which trusts only the tests' own authority unless told otherwise.
    package func request(
        _ name: String,
        _ path: String = "/",
        trust: TLSTrust = .tests,
        host: String = "localhost"
    ) -> TransferRequest {
        var options = TransferOptions.impatient
        options.trust = trust
        let authority = "\(host):\(ports[name] ?? 0)"
        return TransferRequest(
            HTTPRequest(method: .get, scheme: "https", authority: authority, path: path),
            options: options
        )
    }
}

extension TLSTrust {
    /// Only the authority of the tests.
    package static let tests = TLSTrust.file(path: Peer.path("Certificates/ca.pem"))
}
