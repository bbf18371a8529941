import BeagleNetHTTP

/// The servers of `h2_peer.py`, by name.
package final class FramePeer: Sendable {
    /// The instance that all tests share.
    package static let shared = Result { try FramePeer() }

    package let ports: [String: Int]
    private let peer: Peer

    /// Starts separate servers, for tests that depend on the servers' state. Other tests use `shared`.
    package init() throws {
        var ports: [String: Int] = [:]
        peer = try Peer("python3 '\(Peer.path("h2_peer.py"))'") { line in
            let words = line.split(separator: " ")
            if words.count == 2 { ports[String(words[0])] = Int(words[1]) }
        }
        self.ports = ports
    }
}
