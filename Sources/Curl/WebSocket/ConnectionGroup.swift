import CBeagleNetCurl

/// A connection pool for a few WebSockets. For each send or receive, libcurl searches the pool of the handle, which
/// would otherwise contain all WebSocket connections. Used only on the loop's thread.
final class ConnectionGroup {
    /// Large enough to use little memory per WebSocket, small enough to search.
    private static let size = 16

    let pointer: UnsafeMutableRawPointer
    private var places = size

    /// Creates an empty group, or returns `nil` if there isn't enough memory.
    init?() {
        guard let pointer = curl_share_init() else { return nil }
        self.pointer = pointer
        guard beagle_share_connections(pointer) == CURLSHE_OK else { return nil }
    }

    deinit {
        curl_share_cleanup(pointer)
    }

    /// Takes a place. Returns false if the group is full. Places aren't returned.
    func takePlace() -> Bool {
        defer { places -= 1 }
        return places > 0
    }
}
