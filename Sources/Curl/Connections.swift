import CBeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What we know of the connections in libcurl's pool: enough to see, before a message goes out on one, that it is
/// dead or holds bytes which nobody asked for and which would be taken for the answer.
///
/// libcurl 7.88 takes a connection with bytes waiting for a healthy one. A connection is known by its local port; two
/// of the same port on different addresses make us open a new one at worst.
struct Connections {
    struct Key: Hashable {
        let localPort: Int32
        private let remotePort: Int32
        /// Of both addresses' texts.
        private let addresses: Int

        /// The two ends of a connection, as libcurl writes them.
        init(
            _ local: UnsafePointer<CChar>?,
            _ localPort: Int32,
            _ remote: UnsafePointer<CChar>?,
            _ remotePort: Int32
        ) {
            var hasher = Hasher()
            for address in [local, remote] {
                let bytes = UnsafeRawBufferPointer(start: address, count: address.map { strlen($0) } ?? 0)
                hasher.combine(bytes: bytes)
                hasher.combine(0 as UInt8)
            }
            self.localPort = localPort
            self.remotePort = remotePort
            addresses = hasher.finalize()
        }
    }

    private struct Connection {
        var socket: Int32
        var users = 0
        /// Whether it speaks HTTP/2, where bytes may come at any time; nil before its first answer.
        var isMultiplexed: Bool?
    }

    private var connections: [Key: Connection] = [:]
    private var keys: [Int32: Key] = [:]

    /// A connection was made, on one of these sockets.
    mutating func add(_ key: Key, _ sockets: [Int32]) {
        guard key.localPort > 0,
            let socket = sockets.count == 1 ? sockets[0] : sockets.last(where: { localPort(of: $0) == key.localPort })
        else { return }
        connections[key] = Connection(socket: socket)
        keys[socket] = key
    }

    /// The socket was closed.
    mutating func remove(_ socket: Int32) {
        guard let key = keys.removeValue(forKey: socket), connections[key]?.socket == socket else { return }
        connections[key] = nil
    }

    /// Whether an idle connection must not be used; it is shut, so that libcurl drops it.
    ///
    /// One that speaks HTTP/1.1 is idle although its last user has not been reaped yet: it serves one at a time.
    func isStale(_ key: Key) -> Bool {
        guard let connection = connections[key],
            connection.isMultiplexed.map({ !$0 }) ?? (connection.users == 0),
            beagle_socket_stirs(connection.socket) != 0
        else { return false }
        shutdown(connection.socket, Int32(SHUT_RDWR))
        return true
    }

    /// Whether the connection is open.
    func contains(_ key: Key) -> Bool {
        connections[key] != nil
    }

    /// A message goes out on the connection.
    mutating func begin(_ key: Key) {
        connections[key]?.users += 1
    }

    /// The head of an answer came on the connection.
    mutating func answered(_ key: Key, isMultiplexed: Bool) {
        connections[key]?.isMultiplexed = isMultiplexed
    }

    /// A message has been answered, or given up.
    mutating func end(_ key: Key) {
        guard let index = connections.index(forKey: key) else { return }
        connections.values[index].users = max(0, connections.values[index].users - 1)
    }

    private func localPort(of socket: Int32) -> Int32? {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let port: in_port_t? = withUnsafeMutableBytes(of: &address) { bytes in
            guard let base = bytes.baseAddress,
                getsockname(socket, base.assumingMemoryBound(to: sockaddr.self), &size) == 0
            else { return nil }
            // sin_port and sin6_port stand at the same place.
            return bytes.loadUnaligned(fromByteOffset: 2, as: in_port_t.self)
        }
        return port.map { Int32(UInt16(bigEndian: $0)) }
    }
}
